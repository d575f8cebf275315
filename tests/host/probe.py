# probe.py - runs cases by torch_probe.
import os
import subprocess
import tempfile

import tensors
import torch_script

PROBE = os.environ.get("TORCH_PROBE", "./torch_probe")


def run(cases, imports="", options=(), inputs=None, env=None):
    """The tensors that the cases give, by name, and the lines printed."""
    with tempfile.TemporaryDirectory() as folder:
        tensors.write_safetensors(f"{folder}/inputs.safetensors",
                                  inputs or torch_script.inputs_of(cases))
        with open(f"{folder}/cases.py", "w") as f:
            f.write(torch_script.text_of(cases, folder, imports))
        done = subprocess.run([PROBE, *options, f"{folder}/cases.py"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env={**os.environ, **(env or {})})
        if done.returncode or "runtime error" in done.stderr:
            print(done.stderr[-3000:], done.stdout[-300:])
            raise SystemExit(f"torch_probe: exit {done.returncode}")
        saved = tensors.read_safetensors(f"{folder}/outputs.safetensors")
    return saved, done.stdout.splitlines()
