"""ONNX Runtime's part of scripts/bench-peers: a model of each operation, its result in a place that stays.   onnx_worker.py THREADS"""
import sys

import onnxruntime
from onnx import TensorProto, helper

import worker

# What each node is called, what it reads, and its attributes; it writes the name of its place in the list, the last one "out".
models = {
    "matmul": [("MatMul", "x0 x1", {})],
    "matmul_gelu": [("MatMul", "x0 x1", {}), ("Add", "0 x2", {}), ("Gelu", "1", {})],
    "add": [("Add", "x0 x1", {})],
    "chain": [
        ("Mul", "x0 two", {}),
        ("Add", "0 one", {}),
        ("Relu", "1", {}),
        ("Sigmoid", "2", {}),
        ("Mul", "x0 3", {}),
    ],
    "exp": [("Exp", "x0", {})],
    "tanh": [("Tanh", "x0", {})],
    "erf": [("Erf", "x0", {})],
    "softmax": [("Softmax", "x0", {"axis": -1})],
    "layer_norm": [("LayerNormalization", "x0 x1 x2", {"axis": -1, "epsilon": 1e-5})],
    "transpose": [("Transpose", "x0", {"perm": [1, 0]})],
    "permute": [("Transpose", "x0", {"perm": [0, 2, 3, 1]})],
}


def build(operation, arrays):
    nodes = models[operation]
    made = [
        helper.make_node(kind, reads.split(), ["out" if i + 1 == len(nodes) else str(i)], **attributes)
        for i, (kind, reads, attributes) in enumerate(nodes)
    ]
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, a.shape) for i, a in enumerate(arrays)]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    constants = [
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("two", TensorProto.FLOAT, [], [2.0]),
    ]
    used = [c for c in constants if any(c.name in reads.split() for _, reads, _ in nodes)]
    graph = helper.make_graph(made, operation, inputs, [output], used)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def prepare(operation, dtype, arrays):
    if dtype != "f32":
        raise KeyError(dtype)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(sys.argv[1])
    model = build(operation, arrays).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for i, array in enumerate(arrays):
        binding.bind_ortvalue_input(f"x{i}", onnxruntime.OrtValue.ortvalue_from_numpy(array))
    first = session.run(None, {f"x{i}": array for i, array in enumerate(arrays)})[0]
    out = onnxruntime.OrtValue.ortvalue_from_numpy(first)
    binding.bind_ortvalue_output("out", out)

    def run():
        session.run_with_iobinding(binding)
        return out

    return run


worker.serve(prepare, lambda run: run().numpy())
