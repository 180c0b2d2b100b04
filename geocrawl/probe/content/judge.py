"""Judge an answer to a request for a feature, an item or an image."""

from __future__ import annotations

from collections.abc import Generator

from geocrawl.formats.json import JsonObject, read_json
from geocrawl.model import ContentOutcome, Failure, Page, Purpose, Url
from geocrawl.ports import Ask
from geocrawl.probe.content.answer import picture_of, refusal
from geocrawl.probe.content.images import Picture
from geocrawl.probe.json.answer import error_of
from geocrawl.wording import counted


def judge_features(answer: Page | Failure) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail): OK for one feature or more, BLANK for a collection without any."""
    value = _value(answer)
    if (failed := _failed(answer, value)) is not None:
        return failed
    if value is None or not isinstance(answer, Page):
        return ContentOutcome.NOT_AN_IMAGE, f"no JSON: {answer.content_type if isinstance(answer, Page) else ''}"
    features = value.get("features")
    if isinstance(features, list):
        if not features:
            return ContentOutcome.BLANK, "no features"
        return ContentOutcome.OK, counted(len(features), "feature")
    if value.get("type") == "Feature":
        return ContentOutcome.OK, "a feature"
    return ContentOutcome.NOT_AN_IMAGE, f"JSON with {', '.join(list(value)[:8])}"


def judge_image(answer: Page | Failure, size: tuple[int, int]) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail): OK for an image of this size, width and height in pixels, with content."""
    if (failed := _failed(answer, _value(answer))) is not None or isinstance(answer, Failure):
        return failed or (ContentOutcome.HTTP_ERROR, "")
    picture = picture_of(answer)
    if not isinstance(picture, Picture):
        return ContentOutcome.NOT_AN_IMAGE, picture
    detail = f"{picture.width} × {picture.height} pixels, {picture.colours} colours"
    if picture.is_blank:
        return ContentOutcome.BLANK, detail
    if (picture.width, picture.height) != size:
        return ContentOutcome.WRONG_SIZE, f"{detail}, asked for {size[0]} × {size[1]}"
    return ContentOutcome.OK, detail


Look = tuple[ContentOutcome, str]
"""An outcome with its detail."""


def doubt(look: Look, answer: Page | Failure, elsewhere: Url | None) -> Generator[Ask, Page | Failure, Look]:
    """Compare an image that may be a drawn message with the image of another place, and return the judgement.

    `look`: the judgement so far; `elsewhere`: address of an image of the same size; None when there is none.
    """
    picture = picture_of(answer) if look[0] is ContentOutcome.OK and isinstance(answer, Page) else None
    if elsewhere is None or not isinstance(picture, Picture) or not picture.may_be_text:
        return look
    other = yield Ask(elsewhere, Purpose.MAP)
    if isinstance(other, Page) and _shows(other, picture):
        return ContentOutcome.IMAGE_ERROR_TEXT, f"two places look the same, {look[1]}"
    return look


def _shows(page: Page, picture: Picture) -> bool:
    """Return whether an answer is the same image, pixel by pixel."""
    other = picture_of(page)
    return isinstance(other, Picture) and other.similarity(picture) == 1.0


def _value(answer: Page | Failure) -> JsonObject | None:
    if isinstance(answer, Failure) or answer.body.lstrip()[:1] != b"{":
        return None
    return read_json(answer.body, answer.headers.get("content-type", "")).value


def _failed(answer: Page | Failure, value: JsonObject | None) -> tuple[ContentOutcome, str] | None:
    """Return (outcome, detail) of an error in JSON of any status, or of an answer without content; else None."""
    if value is not None and (error := error_of(value)) is not None:
        return ContentOutcome.EXCEPTION, " ".join(part for part in error if part)
    return refusal(answer)
