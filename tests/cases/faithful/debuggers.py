"""Asks whether a debugger is there, as training scripts do, and sets trace functions, debuggers and profilers of its own."""

import bdb
import cProfile
import profile
import pstats
import sys
import threading
import trace

import torch

x = torch.ones(2, requires_grad=True)
debugging = sys.gettrace() is not None or threading.gettrace() is not None or sys.getprofile() is not None
print("workers:", 0 if debugging else 4, sys.gettrace, sys.settrace, sys.settrace.__name__, sys.gettrace.__doc__)
seen = []


def note(frame, event, arg):
    seen.append((frame.f_code.co_name, event))
    return note


def work(v):
    y = v * 2
    return y.sum()


def taken(*names):
    found = [entry for entry in seen if entry[0] in names]
    seen.clear()
    return found


def in_thread():
    print(sys.gettrace(), sys.getprofile())
    work(x).backward()


def run(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name="T")
    thread.start()
    thread.join()


run(in_thread)
before = sys.gettrace()
sys.settrace(note)
print(sys.gettrace() is note)
loss = work(x)
sys.settrace(before)
loss.backward()
again = work(x)
print(taken("work", "settrace", "__call__"), sys.gettrace())
sys.settrace(None)
work(x).backward()
again.backward()
print(taken("work"))

sys.settrace(note)
again = work(x)
again.backward()
sys.settrace(None)
ours = [name for name, _ in seen if name in ("run", "public", "engine_run_backward", "hold", "measure")]
print(ours, ("_engine_run_backward", "return") in seen, taken("work"))

threading.settrace(note)
print(threading.gettrace() is note)
run(work, x)
threading.settrace(None)
print(taken("work"), threading.gettrace())
run(work, x)
print(taken("work"))

for bad in (lambda: sys.settrace(), lambda: sys.gettrace(1)):
    try:
        bad()
    except TypeError as error:
        print(error)


class Stepper(bdb.Bdb):
    def user_line(self, frame):
        if frame.f_code.co_filename == __file__:
            print("line", frame.f_lineno - work.__code__.co_firstlineno, frame.f_code.co_name)
        self.set_step()

    def user_return(self, frame, value):
        if frame.f_code.co_filename == __file__:
            print("return", frame.f_code.co_name)


print(Stepper().runcall(work, x), sys.gettrace())
work(x).backward()


def killer(frame, event, arg):
    if frame.f_code.co_name == "work":
        raise SystemExit("killed")


sys.settrace(killer)
try:
    work(x)
except SystemExit as error:
    print(error, sys.gettrace())
sys.settrace(None)

sys.setprofile(note)
work(x)
print(sys.getprofile() is note)
sys.setprofile(None)
print(seen, sys.getprofile())

with cProfile.Profile() as measured:
    work(x).backward()
rows = pstats.Stats(measured).stats
print(sorted((key[2], row[0]) for key, row in rows.items() if key[0] == __file__ or "'run_backward'" in key[2]))
slow = profile.Profile()
slow.runcall(lambda: work(x).backward())
print(sorted(key[2] for key in pstats.Stats(slow).stats if key[0] == __file__), sys.getprofile())
counter = trace.Trace(count=0, trace=0, countfuncs=1)
counter.runfunc(work, x)
print(sorted(key[2] for key in counter.results().calledfuncs if key[0] == __file__))
print(x.grad)
