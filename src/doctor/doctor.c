/* sluice doctor: finds problems of this machine, with a fix for each. */
#include "doctor/doctor.h"

#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"

#define AT(member) offsetof(struct doctor_options, member)

#define SERVICE_USER   "sluice"
#define SERVICE_CONFIG "/etc/sluice/sluice.yaml"

struct doctor_options {
    struct common_options common;
    const char *user;
};

static const struct options_row options[] = {
    OPTION(0, "NAME", TEXT, "user", AT(user),
           "user as whom the daemon runs; for root, else sluice if there is such a user"),
    {0},
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "doctor",
    .operands = "[--config FILE]",
    .summary =
        "Tells what is wrong with this machine's OpenCL, permissions, folders and limits, and the "
        "fix for each.",
    .details =
        "Without --config and SLUICE_CONFIG the service's own file is looked at, if it is there.\n"
        "Exit status 1 when there is a problem; warnings alone are 0.\n",
    .tables = {options, cli_config_options, cli_device_options, cli_output_options},
};

static const char *const level_names[] = {"ok", "warning", "problem"};

void doctor_find(struct doctor *doctor, enum doctor_level level, const char *check, const char *fix,
                 const char *format, ...)
{
    char text[1000];
    struct text clean = {0}, clean_fix = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_append_utf8(&clean, text);
    text_append_utf8(&clean_fix, fix ? fix : "");
    json_array_append_new(doctor->findings,
                          json_pack("{s:s, s:s, s:s, s:s?}", "check", check, "level",
                                    level_names[level], "text", text_string(&clean), "fix",
                                    fix ? text_string(&clean_fix) : NULL));
    doctor->warnings += level == DOCTOR_WARNING;
    doctor->problems += level == DOCTOR_PROBLEM;
    text_finish(&clean);
    text_finish(&clean_fix);
}

const char *doctor_text(const char *format, ...)
{
    static char texts[4][1000];
    static unsigned next;
    char *text = texts[next++ % 4];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof texts[0], format, args);
    va_end(args);
    return text;
}

bool doctor_may(const struct doctor *doctor, const char *path, unsigned access)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (doctor->uid == 0)
        return true;
    if (status.st_uid == doctor->uid)
        return (status.st_mode >> 6 & access) == access;
    for (int i = 0; i < doctor->n_groups; i++)
        if (doctor->groups[i] == status.st_gid)
            return (status.st_mode >> 3 & access) == access;
    return (status.st_mode & access) == access;
}

/* ---- the user of the daemon ---- */

static void find_user(struct doctor *doctor, const char *told)
{
    const char *name = told ? told : geteuid() == 0 ? SERVICE_USER : NULL;
    const struct passwd *user = name ? getpwnam(name) : getpwuid(geteuid());
    if (told && !user)
        doctor_find(doctor, DOCTOR_PROBLEM, "user", "systemd-sysusers, or adduser --system",
                    "there is no user '%s'", told);
    if (!user && name)
        user = getpwuid(geteuid());
    doctor->uid = user ? user->pw_uid : geteuid();
    snprintf(doctor->user, sizeof doctor->user, "%s",
             user ? user->pw_name : doctor_text("%u", (unsigned)doctor->uid));
    doctor->n_groups = DOCTOR_GROUPS_MAX;
    if (!user || user->pw_uid == geteuid())
        doctor->n_groups = getgroups(DOCTOR_GROUPS_MAX, doctor->groups);
    else if (getgrouplist(user->pw_name, user->pw_gid, doctor->groups, &doctor->n_groups) < 0)
        doctor->n_groups = DOCTOR_GROUPS_MAX;
    if (doctor->n_groups < 0)
        doctor->n_groups = 0;
    struct text groups = {0};
    for (int i = 0; i < doctor->n_groups; i++) {
        const struct group *group = getgrgid(doctor->groups[i]);
        text_printf(&groups, "%s%s", i ? " " : "",
                    group ? group->gr_name : doctor_text("%u", (unsigned)doctor->groups[i]));
    }
    doctor_find(doctor, DOCTOR_OK, "user", NULL, "user %s, groups: %s", doctor->user,
                text_string(&groups));
    text_finish(&groups);
}

static void read_config(struct doctor *doctor, const struct common_options *common)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const char *file = common->config ? common->config : getenv("SLUICE_CONFIG");
    if ((!file || !file[0]) && access(SERVICE_CONFIG, F_OK) == 0)
        file = SERVICE_CONFIG;
    doctor->file = file && file[0] ? file : NULL;
    if (!doctor->file) {
        settings_defaults(&doctor->config.settings);
        doctor_find(doctor, DOCTOR_OK, "config", NULL,
                    "no configuration: folders are not looked at (--config FILE)");
    } else if (config_read_partly(&doctor->config, file, &errors, &fault) != 0) {
        const char *first = errors.length > 0 ? text_string(&errors) : fault.text;
        doctor_find(doctor, DOCTOR_PROBLEM, "config",
                    doctor_text("sluice check-config %s tells all errors", file), "%s: %.*s", file,
                    (int)strcspn(first, "\n"), first);
    } else {
        doctor->config_good = true;
        doctor_find(doctor, DOCTOR_OK, "config", NULL, "%s can be read", file);
    }
    errors.length = 0;
    settings_read_environment(&doctor->config.settings, false, &errors);
    if (errors.length > 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "environment", "correct or unset the variable", "%.*s",
                    (int)strcspn(text_string(&errors), "\n"), text_string(&errors));
    config_resolve_chains(&doctor->config);
    settings_complete(&doctor->config.settings);
    text_finish(&errors);
}

/* ---- the report ---- */

static void print_one(const json_t *finding, bool quiet)
{
    const char *level = json_string_value(json_object_get(finding, "level"));
    const char *fix = json_string_value(json_object_get(finding, "fix"));
    if (quiet && strcmp(level, "ok") == 0)
        return;
    fprintf(cli_stdout, "%-8s %s\n", level, json_string_value(json_object_get(finding, "text")));
    if (fix)
        fprintf(cli_stdout, "         fix: %s\n", fix);
}

static void print(const struct doctor *doctor, const struct common_options *common)
{
    if (common->json) {
        json_t *all = json_pack("{s:O, s:i, s:i}", "findings", doctor->findings, "warnings",
                                (int)doctor->warnings, "problems", (int)doctor->problems);
        cli_print_json(all);
        return;
    }
    size_t index;
    json_t *finding;
    json_array_foreach(doctor->findings, index, finding) print_one(finding, common->quiet);
    if (!common->quiet)
        fprintf(cli_stdout, "problems: %u, warnings: %u\n", doctor->problems, doctor->warnings);
}

int command_doctor(int argc, char **argv)
{
    struct doctor_options o = {0};
    struct doctor doctor = {0};
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    const char *told = o.common.device;
    cli_common_apply(&o.common);
    if (cli_refuse_operands("doctor", first, argc, argv) != 0)
        return 64;
    doctor.findings = json_array();
    find_user(&doctor, o.user);
    read_config(&doctor, &o.common);
    if (told)
        doctor.config.settings.device = told;
    doctor_look_at_worker(&doctor);
    doctor_look_at_kernel(&doctor);
    doctor_look_at_nodes(&doctor);
    doctor_look_at_cache(&doctor);
    doctor_look_at_loader(&doctor);
    doctor_look_at_device(&doctor);
    doctor_look_at_inotify(&doctor);
    doctor_look_at_folders(&doctor);
    print(&doctor, &o.common);
    json_decref(doctor.findings);
    config_finish(&doctor.config);
    return doctor.problems > 0 ? 1 : 0;
}
