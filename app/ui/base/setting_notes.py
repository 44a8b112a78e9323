"""What settings can be on this machine, and what they mean on it. GUI thread."""

from collections.abc import Mapping

from PySide6.QtGui import QFontDatabase

from app.look.figures import data_size
from app.look.fonts import CODE_FAMILY, INTERFACE_FAMILY, SYSTEM, reading_font
from app.look.language import languages
from app.look.words import locale, tr, tr_n, tr_said
from app.models.hub_address import HubError, endpoint_of
from app.settings.api_access import fault_of_hosts, fault_of_origins
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM
from app.ui.base.setting import Facts


def language_names() -> Mapping[str, str]:
    return {"": tr("System"), **languages()}


def text_sizes() -> Mapping[int, str]:
    return {zoom: _text_size(zoom) for zoom in range(MIN_ZOOM, MAX_ZOOM + 1)}


def _text_size(zoom: int) -> str:
    points = locale().toString(reading_font(zoom).pointSizeF(), "g", 3)
    return tr("{points} pt", points=points)


def families(is_fixed: bool) -> Mapping[str, str]:
    """The font that comes with Skein, the system's, and all that can be chosen instead.

    A family of several foundries is one: "Courier [bitstream]" is Courier to a reader.
    """
    usual = CODE_FAMILY if is_fixed else INTERFACE_FAMILY
    families = [name for name in QFontDatabase.families() if not QFontDatabase.isPrivateFamily(name)]
    chosen = [name for name in families if QFontDatabase.isFixedPitch(name)] if is_fixed else families
    others = sorted({name.partition(" [")[0] for name in chosen} - {usual}, key=str.casefold)
    return {**interface_fonts(usual), **{name: name for name in others}}


def interface_fonts(usual: str = INTERFACE_FAMILY) -> Mapping[str, str]:
    return {"": usual, SYSTEM: tr("System font")}


def pool_note(facts: Facts) -> str:
    if facts.model is None or facts.settings.n_ctx:
        return ""
    return tr("Automatic: {tokens} tokens.", tokens=_count(facts.model.n_ctx))


def part_note(facts: Facts) -> str:
    pool = facts.settings.n_ctx or (facts.model.n_ctx if facts.model else 0)
    if not pool:
        return ""
    slots = facts.settings.n_seq_max
    return tr(
        "{part} tokens per slot ({pool} / {slots}).",
        part=_count(pool // slots),
        pool=_count(pool),
        slots=slots,
    )


def checkpoint_note(facts: Facts) -> str:
    if facts.model is None:
        return ""
    if not facts.model.takes_checkpoints:
        return tr("{model} needs none: it can be rolled back anywhere.", model=facts.model.name)
    if facts.settings.checkpoint_mib:
        return ""
    return tr("Automatic: {size}.", size=data_size(facts.model.max_checkpoint_bytes))


def core_note(facts: Facts) -> str:
    return tr_n(
        "This computer has {n} physical core.", "This computer has {n} physical cores.", facts.num_cores
    )


def why_not_kept(facts: Facts) -> str:
    return tr_said(facts.why_not_kept)


def why_no_hub(address: str) -> str:
    try:
        endpoint_of(address)
    except HubError as error:
        return tr_said(error.args[0])
    return ""


def why_no_origins(text: str) -> str:
    return tr_said(fault_of_origins(text))


def why_no_hosts(text: str) -> str:
    return tr_said(fault_of_hosts(text))


def recommended(facts: Facts, name: str) -> str:
    if facts.model is None:
        return ""
    value = getattr(facts.model.sampling, name)
    shown = locale().toString(float(value), "g", 4) if isinstance(value, float) else str(value)
    return tr("Recommended for {model}: {value}.", model=facts.model.name, value=shown)


def _count(number: int) -> str:
    return locale().toString(number)
