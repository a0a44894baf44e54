"""A runner for composite actions: it runs their shell steps here, as GitHub's does; steps that use other actions do
not run."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml


def run_action(
    file: Path, inputs: Mapping[str, str], contexts: Mapping[str, str], folder: Path, environment: Mapping[str, str]
) -> list[subprocess.CompletedProcess[str]]:
    """Run the shell steps of an action in a folder, up to the first that fails.

    `contexts` has the value of each expression besides inputs, such as `github.action_path`; one that it lacks raises
    KeyError.
    """
    action = yaml.safe_load(file.read_text())

    def filled(text: str, known: Mapping[str, str]) -> str:
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: known[match[1]], text)

    given = {
        f"inputs.{name}": inputs[name] if name in inputs else filled(facts["default"], contexts)
        for name, facts in action["inputs"].items()
    }
    done = []
    for step in action["runs"]["steps"]:
        if "run" in step:
            own = {name: filled(value, contexts | given) for name, value in step.get("env", {}).items()}
            script = filled(step["run"], contexts | given)
            words, variables = ["bash", "-eo", "pipefail", "-c", script], os.environ | environment | own
            done.append(subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False))
            if done[-1].returncode:
                break
    return done
