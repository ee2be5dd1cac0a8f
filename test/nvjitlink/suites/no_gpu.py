"""no_gpu.py: a plug-in of pytest that runs the suites of Python packages without their conftest.py: it gives the fixtures
that these have, and writes the outcome of each test, and what it fails with, to the file RESULTS."""
import os
import re

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    """numba-cuda's."""
    request.cls._dump_failed_filechecks = False


@pytest.fixture
def init_cuda():
    """cuda-core's."""
    from cuda.core import Device

    device = Device()
    device.set_current()
    return device


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        why = re.sub("0x[0-9a-f]+|/[^ ]*/", "", crash.message.split("\n")[0]) if crash else ""
        with open(os.environ["RESULTS"], "a") as file:
            print(report.nodeid.split("/")[-1], report.outcome, why, file=file)
