"""The command `export`: a model as a program or an ONNX graph that does not need this library."""

from __future__ import annotations

from pathlib import Path

from skewboost.cli.commands import Export
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import read_model
from skewboost.cli.options import FORMS
from skewboost.cli.output import note, write_raw
from skewboost.cli.output_files import check_output
from skewboost.files import write_whole


def run(request: Export) -> None:
    """Write the model to a file, or print it."""
    output, table = request.output, request.table
    check_output(output)
    form = _form(request.to, output)
    if form == "onnx" and output is None:
        raise CommandError("an ONNX graph is not text, so it cannot be printed.", "Give -o model.onnx.")
    if table is not None and form != "sql":
        raise CommandError(f"--table is for sql, but the form is {form}.", "Leave it out.")
    from skewboost import io

    model = read_model(request.model).estimator
    options = {} if request.name is None else {"name": request.name}
    if form == "onnx":
        content = io.to_onnx(model, **options).SerializeToString()
    else:
        content = io.to_source(model, form, table=table, **options)
    if output is None:
        write_raw(str(content).rstrip("\n") + "\n")
    else:
        write_whole(output, content)
        note(f"Written: {output}")


def _form(to: str | None, output: str | None) -> str:
    """The form that --to gives, else that of the file's ending."""
    if to is None:
        ending = "" if output is None else Path(output).suffix.lower()
        if ending not in FORMS:
            raise CommandError(
                "the form of the export is not given.",
                f"Use --to {'|'.join(FORMS.values())}, or a name after -o that ends in {', '.join(FORMS)}.",
            )
        return FORMS[ending]
    if to.lower() not in FORMS.values():
        raise CommandError(f"--to {to!r} is unknown.", f"Choose one of {', '.join(FORMS.values())}.")
    return to.lower()
