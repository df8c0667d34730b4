/* The subcommands of `sluice`. Each parses its own arguments and returns the exit status. */
#ifndef SLUICE_CLI_COMMANDS_H
#define SLUICE_CLI_COMMANDS_H

int command_run(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_stages(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_check_config(int argc, char **argv);
int command_submit(int argc, char **argv);
int command_status(int argc, char **argv);
int command_why(int argc, char **argv);
int command_requeue(int argc, char **argv);
int command_warm(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_testcard(int argc, char **argv);

#endif
