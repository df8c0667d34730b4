/* The metrics, in the order in which they are printed: METRIC(constant, kind, name, help), below
 * its labels if it has any. To be included where METRIC is defined. */

/* version */
METRIC(BUILD_INFO, GAUGE, "sluice_build_info", "Which sluice this is; the value is 1.")
/* source, chain, result: done, failed */
METRIC(JOBS, COUNTER, "sluice_jobs_total", "Jobs that have ended.")
/* source, chain */
METRIC(RESULTS, COUNTER, "sluice_results_total",
       "Results of jobs that are done; of one picture there may be several.")
METRIC(JOB_DURATION, HISTOGRAM, "sluice_job_duration_seconds", "Time of a job in the worker.")
/* span: read, decode, device, encode, write */
METRIC(SPAN_DURATION, SUMMARY, "sluice_span_duration_seconds", "Time of the parts of jobs.")
/* stage, or stages that are fused: a+b */
METRIC(STAGE_DURATION, SUMMARY, "sluice_stage_duration_seconds", "Time of stages on the device.")
METRIC(PIXELS, COUNTER, "sluice_pixels_total", "Pixels of inputs.")
METRIC(BYTES_READ, COUNTER, "sluice_bytes_read_total", "Bytes of inputs.")
METRIC(BYTES_WRITTEN, COUNTER, "sluice_bytes_written_total", "Bytes of results.")
/* as reports count them, and copies of inputs that a client could still change */
METRIC(BYTES_COPIED, COUNTER, "sluice_bytes_copied_total",
       "Bytes that had to be copied on the way to a device or back.")
/* direction: in, out */
METRIC(CROSSINGS, COUNTER, "sluice_device_crossings_total",
       "Pictures handed over to the device (in) and back (out).")
/* hook: on_done, on_failed; result: done, failed */
METRIC(HOOKS, COUNTER, "sluice_hooks_total", "Programs that were told of a file's end.")
METRIC(QUEUE_JOBS, GAUGE, "sluice_queue_jobs", "Jobs that are held now.")
/* socket: http, jobs */
METRIC(CONNECTIONS, GAUGE, "sluice_connections", "Clients that are connected.")
METRIC(USERS, GAUGE, "sluice_users", "Users that are connected or have jobs.")
METRIC(CLIENT_BYTES, GAUGE, "sluice_client_bytes", "Bytes of clients' inputs and unread results.")
METRIC(CLIENT_BYTES_MAX, GAUGE, "sluice_client_bytes_limit", "What these may be together.")
/* state: well, hanging */
METRIC(RECEIVERS, GAUGE, "sluice_receivers", "Processes that receive clients' descriptors.")
/* dir, state */
METRIC(FILES, GAUGE, "sluice_files", "Files of a watched folder by state.")
/* dir, state: ok, degraded, hanging, lost */
METRIC(FOLDER_STATE, GAUGE, "sluice_folder_state", "How a watched folder is; the value is 1.")
/* dir, mode: inotify, poll, gone */
METRIC(WATCH_MODE, GAUGE, "sluice_watch_mode", "How a folder is watched; the value is 1.")
/* dir */
METRIC(WATCH_OVERFLOWS, COUNTER, "sluice_watch_overflows_total",
       "Times that more happened than inotify could tell.")
METRIC(RELOAD_SUCCESS, GAUGE, "sluice_config_reload_success",
       "1 when the configuration that was read last is in force.")
METRIC(BUFFER_BYTES, GAUGE, "sluice_buffer_bytes", "Bytes of device memory that the worker holds.")
METRIC(JOB_RETRIES, COUNTER, "sluice_job_retries_total",
       "Jobs put off for trouble that is not their own.")
METRIC(JOB_QUARANTINES, COUNTER, "sluice_job_quarantines_total",
       "Jobs that were given a worker of their own, after trouble in one.")
/* reason: error, start, check, missing, stuck, crash */
METRIC(DEVICE_FALLBACK, COUNTER, "sluice_device_fallback_total",
       "Times that work went to the fallback device.")
METRIC(DEVICE_ON_FALLBACK, GAUGE, "sluice_device_on_fallback",
       "1 while the fallback device does the work.")
/* tier: native, gpu, … */
METRIC(CHAINS, GAUGE, "sluice_chains", "Configured chains by the kind of device that runs them.")
METRIC(DEVICES_LOST, COUNTER, "sluice_devices_lost_total",
       "Workers stuck in the kernel: a reboot is due.")
METRIC(KERNEL_BUILDS, COUNTER, "sluice_kernel_builds_total", "Programs compiled.")
METRIC(KERNEL_CACHE_HITS, COUNTER, "sluice_kernel_cache_hits_total",
       "Programs taken from the cache.")
METRIC(CLIENT_KERNELS, GAUGE, "sluice_client_kernels",
       "Kernels made for chains that are not configured, in the worker.")
METRIC(CACHE_WIPES, COUNTER, "sluice_kernel_cache_wipes_total",
       "Times that the kernel caches were emptied.")
METRIC(WORKER_STARTS, COUNTER, "sluice_worker_starts_total", "Worker processes started.")
/* reason: recycled, replaced, refused, crashed, killed, taken, stuck, stopped */
METRIC(WORKER_ENDS, COUNTER, "sluice_worker_ends_total", "Worker processes ended.")
/* the names from here on are those that other programs use */
METRIC(CPU_SECONDS, COUNTER, "process_cpu_seconds_total", "Processor time of this process.")
METRIC(RESIDENT_MEMORY, GAUGE, "process_resident_memory_bytes", "Memory of this process.")
METRIC(VIRTUAL_MEMORY, GAUGE, "process_virtual_memory_bytes", "Address space of this process.")
METRIC(OPEN_FDS, GAUGE, "process_open_fds", "Open descriptors of this process.")
METRIC(MAX_FDS, GAUGE, "process_max_fds", "Descriptors that it may have.")
METRIC(START_TIME, GAUGE, "process_start_time_seconds", "When it started, in Unix time.")
