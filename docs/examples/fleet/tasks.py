"""Pictures by a task queue that is there already: Celery calls `sluice submit` on each machine.

    celery -A tasks worker --concurrency 4          # on each machine, as a member of group sluice
    python3 -c 'import tasks; print(tasks.run.delay("luminance,sobel:scale=1", "/srv/in/a.jpg", "/srv/out/a.png").get())'

Paths are on a file system that all machines share; fetch and store where there is none. RQ and Dask call `filter_picture`
just so: see docs/fleet.md."""
import os
import subprocess

LATER = {69, 75}  # no daemon or no device; the queue is full


class TryLater(Exception):
    """Nothing is wrong with the picture: again, here or on another machine."""


def filter_picture(chain, source, target):
    """Returns the result's path. A picture that cannot be done is a ValueError, which says why."""
    run = subprocess.run(['sluice', 'submit', '-q', '-c', chain, '-o', target, source], capture_output=True, text=True, timeout=600)
    if run.returncode in LATER:
        raise TryLater(run.stderr.strip())
    if run.returncode != 0:
        raise ValueError(run.stderr.strip())
    return target


try:
    from celery import Celery
except ImportError:
    pass
else:
    app = Celery('tasks', broker=os.environ.get('BROKER', 'redis://hub/0'), backend=os.environ.get('BACKEND', 'redis://hub/1'))
    app.conf.update(task_acks_late=True,              # a machine that dies gives its pictures back
                    task_reject_on_worker_lost=True,
                    worker_prefetch_multiplier=1,     # and holds no more than it does
                    broker_transport_options={'visibility_timeout': 900})  # above the time of any job

    @app.task(autoretry_for=(TryLater,), max_retries=20, retry_backoff=1, retry_backoff_max=120)
    def run(chain, source, target):
        return filter_picture(chain, source, target)
