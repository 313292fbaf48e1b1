"""A stand-in for the engine that speaks docs/format.md, and fails as it is told by FAKE_ENGINE.

It measures nothing: it is here to die, to babble and to be stale, which the real one does not do on request.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path

MODE = os.environ.get("FAKE_ENGINE", "")
DISTRIBUTION = {"count": 10, "mean_ns": 1.5e6, "p50_ns": 10**6, "p95_ns": 2 * 10**6, "p99_ns": 3 * 10**6,
                "p999_ns": 4 * 10**6, "max_ns": 5 * 10**6}  # fmt: skip
OP = {"count": 10, **dict.fromkeys(("response", "service", "wait", "all"), DISTRIBUTION)}


def emit(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, "t_ns": time.monotonic_ns(), **fields}), flush=True)


def commands() -> queue.Queue[dict[str, object]]:
    found: queue.Queue[dict[str, object]] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            found.put(json.loads(line))
        found.put({"cmd": "stop", "id": 0})

    threading.Thread(target=read, daemon=True).start()
    return found


def ack(command: dict[str, object], error: str | None = None) -> None:
    marked = {"at_ns": time.monotonic_ns()} if command["cmd"] == "mark" else {}
    emit("ack", id=command["id"], cmd=command["cmd"], ok=error is None, error=error, **marked)


def phase(plan: dict, command: dict[str, object], orders: queue.Queue[dict[str, object]]) -> tuple[bool, int]:
    """Run one phase; whether the process is to end, and the next number."""
    words = next(p for p in plan["phases"] if p["name"] == command["name"])
    name, first = words["name"], int(command.get("first") or 0)
    start = int(command["at_ns"])
    emit("phase_start", phase=name, at_ns=start, first=first)
    if f"die-in-{name}" == MODE:
        print("fake: a segmentation fault, say", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    if f"garbage-in-{name}" == MODE:
        print("this is no event", flush=True)
        time.sleep(60)
    if f"disk-full-in-{name}" == MODE:
        emit("error", kind="io", text="No space left on device (os error 28)")
        sys.exit(3)
    ok = 0 if MODE in (f"all-fail-in-{name}", f"numb-in-{name}") else 10
    emit("warning", kind="first_error", text="timeout: nobody answered") if not ok else None
    seconds = float(words["limit"].get("seconds") or 0)
    reason, stop = "time" if seconds else "operations", False
    endless = (f"hang-in-{name}", f"numb-in-{name}", f"deaf-in-{name}")
    second = 0
    with (Path(plan["out"]) / f"{name}.series.ndjson").open("w") as series:
        while True:
            row = {"second": second, "t_ns": start + second * 10**9, "due": 10, "started": 10, "done": 10,
                   "ok": ok, "failed": {} if ok else {"timeout": 10}, "in_flight": 3, "backlog": 0,
                   "cpu_ns": 1, "ops": {"READ": OP, "TOTAL": OP}}  # fmt: skip
            series.write(json.dumps(row) + "\n")
            series.flush()
            emit(
                "interval",
                phase=name,
                second=second,
                seconds_since_start=second + 1,
                due=10,
                started=10,
                done=10,
                ok=ok,
                failed=row["failed"],
                total_done=10 * (second + 1),
                total_ok=ok * (second + 1),
                total_failed=(10 - ok) * (second + 1),
                limit_operations=words["limit"].get("operations"),
                limit_seconds=seconds or None,
                in_flight=3,
                cap=words["in_flight"],
                backlog=0,
                response_p50_ns=10**6,
                response_p99_ns=3 * 10**6,
                cpu_user_ns=1,
                cpu_system_ns=1,
                rss_bytes=1,
            )
            second += 1
            if time.monotonic_ns() >= start + seconds * 10**9 and MODE not in endless:
                break
            try:
                order = orders.get(timeout=0.05)
            except queue.Empty:
                continue
            ack(order)
            if order["cmd"] == "end":
                seconds = min(seconds, (int(order["at_ns"]) - start) / 1e9)
            if order["cmd"] == "stop" and f"deaf-in-{name}" != MODE:
                reason, stop = "stop", True
                break
    stored = plan["workload"]["records"] if name == "load" else 10 * second
    summary = {"phase": name, "kind": words["kind"], "start_ns": start, "end_ns": time.monotonic_ns(),
               "seconds": 1.0, "first": first, "next": first + 10, "operations": stored,
               "ok": stored if ok else 0, "failed": {} if ok else {"timeout": stored},
               "ops": {"TOTAL": OP}}  # fmt: skip
    emit(
        "phase_end",
        phase=name,
        reason=reason,
        first=first,
        next=first + 10 + plan["engine"]["index"],
        start_ns=start,
        end_ns=summary["end_ns"],
        summary=summary,
    )
    return stop, first + 10


def run(path: Path) -> int:
    plan = json.loads(path.read_text())
    if MODE == "plan-refused":
        emit("error", kind="plan", text="workload.records must be above 0")
        return 2
    if MODE == "unreachable":
        emit("error", kind="open", text="cannot reach the database: connection refused")
        return 3
    if MODE == "silent-death":
        print("fake: no memory", file=sys.stderr, flush=True)
        return 101
    orders = commands()
    emit(
        "ready",
        version="fake",
        source_hash="fake",
        plan_format=2,
        pid=os.getpid(),
        clock={},
        driver={"kind": "fake"},
    )
    while True:
        command = orders.get()
        if MODE == "refuse":
            ack(command, "not today")
            continue
        ack(command)
        if command["cmd"] in ("stop", "finish"):
            break
        if command["cmd"] == "phase" and phase(plan, command, orders)[0]:
            break
    emit("end", clock={}, cpu_user_ns=1, cpu_system_ns=1, rss_max_bytes=1, context_switches=1)
    return 0


def merge(out: Path, engines: list[str]) -> int:
    rows = {
        "event": "phase_end",
        "merged": True,
        "phase": "run",
        "t_ns": 1,
        "summary": {"engines": len(engines)},
    }
    (out / "events.ndjson").write_text(json.dumps(rows) + "\n")
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["handshake"]:
            print(os.environ["FAKE_HANDSHAKE"])
        case ["run", plan]:
            sys.exit(run(Path(plan)))
        case ["merge", out, *engines]:
            sys.exit(merge(Path(out), engines))
