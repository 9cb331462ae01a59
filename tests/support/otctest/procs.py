"""Child processes that end with their parent and are stopped by their pid."""
import ctypes
import json
import os
import signal
import subprocess
import time

_PR_SET_PDEATHSIG = 1


def _die_with_parent():
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """One program, its output in a file."""

    def __init__(self, name, argv, log_path, env=None, stdout=None):
        self.name = name
        self.argv = [str(a) for a in argv]
        self.log_path = log_path
        self._log = open(log_path, "ab")
        full_env = dict(os.environ)
        full_env.pop("KUBECONFIG", None)
        full_env.update(env or {})
        self.popen = subprocess.Popen(
            self.argv, stdin=subprocess.DEVNULL, stdout=stdout or self._log, stderr=self._log,
            env=full_env, preexec_fn=_die_with_parent)

    @property
    def pid(self):
        return self.popen.pid

    def running(self):
        return self.popen.poll() is None

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read().decode("utf-8", "replace")

    def signal(self, number):
        if self.running():
            self.popen.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.popen.wait()

    def stop(self, timeout=10):
        """TERM, then KILL; the exit code."""
        self.signal(signal.SIGTERM)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.popen.returncode

    def wait(self, timeout):
        return self.popen.wait(timeout)


def start_json(name, argv, log_path, env=None, timeout=20):
    """Starts a program whose first line on standard output is a JSON object."""
    read_fd, write_fd = os.pipe()
    try:
        process = Process(name, argv, log_path, env, stdout=write_fd)
    finally:
        os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        line = pipe.readline()
    if not line.strip():
        process.kill()
        raise RuntimeError(f"{name} printed nothing before it ended:\n{process.log()}")
    return process, json.loads(line)


def wait_for(what, condition, timeout=30, pause=0.05, processes=()):
    """Polls until `condition` answers something true, and returns it."""
    deadline = time.monotonic() + timeout
    last = None
    while time.monotonic() < deadline:
        try:
            value = condition()
            if value:
                return value
            last = value
        except Exception as error:  # the last one is reported below
            last = error
        for process in processes:
            if not process.running():
                raise AssertionError(
                    f"waiting for {what}: {process.name} ended with "
                    f"{process.popen.returncode}:\n{process.log()[-4000:]}")
        time.sleep(pause)
    raise AssertionError(f"waited {timeout} s for {what}; last: {last!r}")
