"""Settings that all tests share."""

import os

from hypothesis import HealthCheck, settings

# The same examples in every run, whatever the machine is busy with; `HYPOTHESIS_PROFILE=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
