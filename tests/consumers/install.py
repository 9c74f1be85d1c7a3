"""Installs the pinned versions (package-lock.json, requirements.txt) below the target folder, once."""

import shutil
import sys

from workshop import HERE, STAMP, WORK, run


def install():
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package-lock.json").read_text() + (HERE / "requirements.txt").read_text()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(HERE / name, WORK)
    run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run(sys.executable, "-m", "venv", "--clear", WORK / "venv")
    run(WORK / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt")
    STAMP.write_text(wanted)
