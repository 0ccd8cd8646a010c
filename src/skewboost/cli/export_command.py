"""The command `export`: a model as a program or a graph that needs none of this library."""

from __future__ import annotations

from pathlib import Path

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import check_output, read_model
from skewboost.cli.output import Verbatim, note
from skewboost.files import write_whole

ENDINGS = {".py": "python", ".c": "c", ".sql": "sql", ".onnx": "onnx"}


def run(model_path: str, to: str | None, output: str | None, name: str | None, table: str | None) -> None:
    """Write it to a file, or to stdout where it is text."""
    check_output(output, ())
    wanted = _language(to, output)
    if wanted == "onnx" and output is None:
        raise CommandError("an ONNX graph is no text: give -o model.onnx.")
    if table is not None and wanted != "sql":
        raise CommandError(f"--table is for sql, and this is {wanted}. Leave it out.")
    from skewboost import io

    model = read_model(model_path).estimator
    told = {} if name is None else {"name": name}
    if wanted == "onnx":
        content = io.to_onnx(model, **told).SerializeToString()
    else:
        content = io.to_source(model, wanted, table=table, **told)
    if output is None:
        Verbatim().write(str(content).rstrip("\n") + "\n")
    else:
        write_whole(output, content)
        note(f"Written: {output}")


def _language(to: str | None, output: str | None) -> str:
    """What is said, else what the name of the file ends in."""
    if to is None:
        ending = "" if output is None else Path(output).suffix.lower()
        if ending not in ENDINGS:
            raise CommandError(f"to what? Say --to {'|'.join(ENDINGS.values())}, or end -o in {', '.join(ENDINGS)}.")
        return ENDINGS[ending]
    if to.lower() not in ENDINGS.values():
        raise CommandError(f"--to {to!r} is none of {', '.join(ENDINGS.values())}.")
    return to.lower()
