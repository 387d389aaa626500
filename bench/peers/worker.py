"""What the Python programs of scripts/bench-peers share: they answer as worker.h says."""
import sys
import time

import numpy

SHIFT = 4096  # as in worker.c
pools = {}


def read_inputs(shapes, file):
    """Views of the file's floats, each a little behind the one before."""
    if file not in pools:
        pools[file] = numpy.memmap(file, "float32", "r")
    inputs = []
    for index, text in enumerate(shapes.split(",")):
        shape = [int(n) for n in text.split("x")]
        count = int(numpy.prod(shape))
        inputs.append(numpy.array(pools[file][index * SHIFT : index * SHIFT + count]).reshape(shape))
    return inputs


def elapsed_ms(run):
    begin = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - begin)


def serve(prepare, to_numpy, time_of=elapsed_ms):
    """prepare(operation, dtype, inputs): a function that does it once, to its end, and returns what came out; KeyError where
    the peer has no such operation or dtype. to_numpy runs it and makes an array of what came out; time_of runs it and
    says how many milliseconds it took."""
    run, dtype = None, "f32"
    for line in sys.stdin:
        words = line.split()
        if words[0] == "prepare":
            run, dtype = None, words[2]
            try:
                run = prepare(words[1], dtype, read_inputs(words[3], words[4]))
                answer = "ready"
            except KeyError as missing:
                answer = f"cannot do {missing}"
        elif words[0] == "run":
            times = [f"{time_of(run):.6f}" for _ in range(int(words[1]))]
            answer = " ".join(["0"] + times)
        else:
            numpy.asarray(to_numpy(run), "float64" if dtype == "f64" else "float32").tofile(words[1])
            answer = "ready"
        print(answer, flush=True)
