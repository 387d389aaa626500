#!/usr/bin/python3
"""Lists the public functions of NumPy and PyTorch that work on arrays, a name a line, in the .txt files beside this script.

What stands behind a name in a file that exists is kept; a new name stands alone, which says that Tenon has it under this
name. The files were made with NumPy 1.24 and PyTorch 1.13 of Debian 12. Listed are documented functions that neither end
in "_" (in place) nor are about the interpreter: settings, threads, typing, compilation, documentation.
"""
import inspect
import os
import re

import numpy
import torch

INTERPRETER = re.compile(
    # PyTorch
    r"(set|get|is_warn|is_grad|is_deterministic|use_deterministic|are_deterministic|import|parse|merge|unify|vitals|has_torch)_.*"
    r"|is_inference.*|is_(tensor|storage)|read_vitals|set_.*|init_num_threads|compiled_with.*|fork|wait|candidate|obj"
    r"|handle_torch_function|boolean_dispatch|assert_int_or_pair|record_stream|is_(pinned|shared|set_to)|as_subclass|(?!index_).*_copy"
    # NumPy
    r"|add_(doc|newdoc).*|deprecate.*|.*sctype.*|(get|set)(err|buf).*|seterr.*|geterr.*|set_.*|info|lookfor|source|who|test"
    r"|show_.*|disp|safe_eval|issub.*|get_.*|nested_iters|require|byte_bounds|iterable|typename|mintypecode|fast.*Transpose"
    r"|asmatrix|mat|bmat|bytes|default_rng")


def functions(module):
    for name, value in inspect.getmembers(module, callable):
        hidden = name.startswith("_") or name.endswith("_") or inspect.isclass(value)
        if hidden or not (value.__doc__ or "").strip() or getattr(value, "__module__", "") == "typing":
            continue
        if not INTERPRETER.fullmatch(name):
            yield name


def rewrite(title, names):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), title + ".txt")
    known = {}
    if os.path.exists(path):
        known = {line.split()[0]: line.rstrip("\n") for line in open(path)}
    with open(path, "w") as file:
        file.writelines(known.get(name, name) + "\n" for name in sorted(names))


torch_names = set(functions(torch))
rewrite("numpy", functions(numpy))
rewrite("numpy.linalg", functions(numpy.linalg))
rewrite("numpy.random", functions(numpy.random))
rewrite("torch", torch_names)
rewrite("torch.nn.functional", functions(torch.nn.functional))
rewrite("torch.linalg", functions(torch.linalg))
rewrite("torch.special", functions(torch.special))
rewrite("torch.Tensor", set(functions(torch.Tensor)) - torch_names)
