"""Small dialogs: a question with an answer of yes or no, a line of text, a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static, TextArea

from recall.domain.text import clean
from recall_widgets.glyphs import ASCII, UNICODE


class Hint(Static):
    """The keys of a dialog."""

    def __init__(self, text: str) -> None:
        super().__init__(Content(text), classes="hint")
        self._text = text

    def on_mount(self) -> None:
        if self.app.has_class("-ascii"):  # pyright: ignore[reportUnknownMemberType] - Textual leaves the app's type open
            self.update(Content(self._text.replace(UNICODE.dot, ASCII.dot)))


class Confirm(ModalScreen[bool]):
    """Asks before something that is not undone with a key. Enter means yes, escape no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Yes", id="confirm.yes"),
        Binding("escape,n", "answer(False)", "No", id="confirm.no"),
    ]

    def __init__(self, question: str, lines: Sequence[str] = ()) -> None:
        """`lines` are what the question is about, however many there are."""
        super().__init__()
        self._question = clean(question)
        self._lines = [clean(line) for line in lines]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(self._question))
            if self._lines:
                with VerticalScroll(classes="to-read"):
                    yield Static(Content("\n".join(self._lines)))
            scrolls = " · the arrow keys scroll" if self._lines else ""
            yield Hint(f"enter yes · escape no{scrolls}")

    def on_mount(self) -> None:
        for box in self.query(VerticalScroll):
            box.focus()

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class Ask(ModalScreen[str]):
    """Asks for one line; escape gives an empty one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", id="ask.leave")]

    def __init__(self, question: str, initial: str = "", keep: Callable[[str], None] = lambda _: None) -> None:
        """`keep` gets what stands there when the person leaves it."""
        super().__init__()
        self._keep = keep
        self._question = clean(question)
        self._initial = initial

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(self._question))
            yield Input(self._initial)
            yield Hint("enter accepts · escape leaves")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self._keep(self.query_one(Input).value)
        self.dismiss("")


class Write(ModalScreen[str]):
    """Asks for a text of several lines; escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "keep", "Keep", priority=True, id="write.keep"),
        Binding("escape", "leave", "Leave", priority=True, id="write.leave"),
    ]

    def __init__(self, heading: str, text: str) -> None:
        super().__init__()
        self._heading = clean(heading)
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog large"):
            yield Static(Content(self._heading))
            yield TextArea(self._text, soft_wrap=False, tab_behavior="indent")
            yield Hint("ctrl+s keeps it · escape leaves")

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def action_keep(self) -> None:
        self.dismiss(self.query_one(TextArea).text)

    def action_leave(self) -> None:
        self.dismiss(None)


class Choose(ModalScreen[int]):
    """Offers a few ways: by digit, or by moving there and enter. Escape gives -1."""

    HINT: ClassVar[str] = "a digit or enter chooses · escape leaves"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "choose(-1)", "Leave", id="choose.leave"),
        Binding("j", "move(1)", show=False, id="choose.next"),
        Binding("k", "move(-1)", show=False, id="choose.previous"),
        *(Binding(str(digit), f"choose({digit - 1})", show=False, id=f"choose.{digit}") for digit in range(1, 10)),
    ]

    def __init__(self, question: str, ways: Sequence[str]) -> None:
        super().__init__()
        self._question = clean(question)
        self._ways = [clean(way) for way in ways]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(self._question))
            yield OptionList(*(Content(f"{number}  {way}") for number, way in enumerate(self._ways, 1)))
            yield Hint(self.HINT)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_choose(event.option_index)

    def action_choose(self, index: int) -> None:
        if index < len(self._ways):
            self.dismiss(index)

    def action_move(self, by: int) -> None:
        move(self.query_one(OptionList), by)


class Farewell(Choose):
    """The same on the way out: who asks to quit a second time means the first way."""

    HINT = "a digit or enter chooses · q again takes the first · escape stays"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "choose(0)", show=False, id="farewell.again")]


def move(options: OptionList, by: int) -> None:
    """Go one option down (1) or up (-1), as the arrows do."""
    if by > 0:
        options.action_cursor_down()
    else:
        options.action_cursor_up()
