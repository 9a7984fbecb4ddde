"""gdb commands that show fibers, in a live process or a core file.

    (gdb) source tests/lib/system/fibers_gdb.py
    (gdb) fibers

prints the label (the request id) and the backtrace of every waiting fiber of every thread. Boost.Context's
jump_fcontext() has saved the registers of such a fiber on the fiber's stack. An unwinder gives them to gdb as those of
the caller of frame 0.
"""

import gdb
from gdb.unwinder import Unwinder, register_unwinder

# Architecture -> offsets from the saved stack pointer at which jump_fcontext() saves the registers that a function must
# preserve, name of the stack pointer, size of the saved data, name of the program counter. From Boost's
# src/asm/jump_x86_64_sysv_elf_gas.S and jump_arm64_aapcs_elf_gas.S. On x86-64, newer versions save a stack guard of
# GUARD_SIZE bytes below r12.
GUARD_SIZE = 8
LAYOUTS = {
    "i386:x86-64": (
        {"r12": 0x08, "r13": 0x10, "r14": 0x18, "r15": 0x20, "rbx": 0x28, "rbp": 0x30, "rip": 0x38}, "rsp", 0x40, "rip"),
    "aarch64": (
        {**{f"x{number}": 0x40 + 8 * (number - 19) for number in range(19, 31)}, "pc": 0xA0}, "sp", 0xB0, "pc"),
}


class FrameId:
    """The identity of a frame, in the form that create_unwind_info() expects."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def read_word(address):
    return gdb.Value(address).cast(gdb.lookup_type("unsigned long").pointer()).dereference()


def size_of_guard(context, offset):
    """0 or GUARD_SIZE: where a program counter is saved, that of a function with debugging information."""
    is_without = gdb.block_for_pc(int(read_word(context + offset))) is not None
    return 0 if is_without else GUARD_SIZE


class WaitingFiber(Unwinder):
    """If `context` is set, gdb continues from frame 0 of the selected thread to the frames of the waiting fiber."""

    def __init__(self):
        super().__init__("waiting fiber")
        self.context = None

    def __call__(self, pending):
        if self.context is None:
            return None
        context, self.context = self.context, None  # for frame 0 only
        registers, sp, size, pc = LAYOUTS[pending.architecture().name()]
        word = gdb.lookup_type("unsigned long")
        # Any frame of the fiber has a larger address than this id, as gdb expects of an outer frame.
        info = pending.create_unwind_info(FrameId(gdb.Value(16).cast(word), pending.read_register(pc)))
        base = context + (size_of_guard(context, registers["rip"]) if pc == "rip" else 0)
        for name, offset in registers.items():
            info.add_saved_register(name, read_word(base + offset))
        info.add_saved_register(sp, gdb.Value(base + size).cast(word))
        return info


UNWINDER = WaitingFiber()
register_unwinder(None, UNWINDER, replace=True)


def fibers_of(thread):
    """The fibers of one thread, oldest last."""
    fiber = thread["fibers"]["lh_first"]
    while fiber:
        yield fiber
        fiber = fiber["entry"]["le_next"]


def all_fibers():
    thread = gdb.parse_and_eval("fiber_threads")
    while thread:
        yield from fibers_of(thread)
        thread = thread["next"]


def backtrace(fiber):
    """The text of the fiber's frames, innermost first."""
    UNWINDER.context = int(fiber["flow"]["context"])
    gdb.invalidate_cached_frames()
    try:
        text = gdb.execute("backtrace", to_string=True)
    finally:
        UNWINDER.context = None
        gdb.invalidate_cached_frames()
    frames = text.splitlines(keepends=True)[1:]
    end = next((i for i, line in enumerate(frames) if " fiber_entry (" in line), len(frames))
    return "".join(frames[:end])


class Fibers(gdb.Command):
    """Print label and backtrace of every fiber that waits."""

    def __init__(self):
        super().__init__("fibers", gdb.COMMAND_STACK)

    def invoke(self, _argument, _from_tty):
        for fiber in all_fibers():
            label = fiber["label"].string() if fiber["label"] else "-"
            if fiber["is_waiting"]:
                print(f"fiber {label}\n{backtrace(fiber)}")
            else:
                print(f"fiber {label}: running\n")


Fibers()
