/*
 * completion.c - what bash needs to complete thctl's command lines, from the tables it works by.
 *
 * The script finds the command among the words, then offers
 *
 *     after an option that takes one of a few values    these
 *     after another one that takes a value              what bash offers by itself: files
 *     else                                              commands, or the options of the command
 *
 * No word of a table needs quoting in a shell: a test reads the script with one.
 */
#include "thctl/completion.h"

#include "base/buffer.h"

static const char head[] =
    "# Completes the command lines of thctl; printed by 'thctl completion'.\n"
    "_thctl()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words "
    "i\n"
    "\n"
    "    # Bash takes --name=value for three words.\n"
    "    if [[ $word == '=' ]]; then\n"
    "        word=''\n"
    "    elif [[ $before == '=' ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n";

static const char found_command[] = "        -*|=) ;;\n"
                                    "        *) command=${COMP_WORDS[i]}; break ;;\n"
                                    "        esac\n"
                                    "    done\n"
                                    "    case $command:$before in\n";

static const char found_value[] = "    *)\n"
                                  "        case $command in\n";

static const char tail[] = "        *) return ;;\n"
                           "        esac ;;\n"
                           "    esac\n"
                           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                           "}\n"
                           "complete -o default -F _thctl thctl\n";

/* "ls:--state|ls:-s"; of all commands "*:--config|*:-c" */
static void add_place(struct buffer *out, const char *command, const struct option *option)
{
    buffer_printf(out, "%s:--%s", command, option->name);
    if (option->letter != '\0')
        buffer_printf(out, "|%s:-%c", command, option->letter);
}

static bool takes_next_word(const struct option *option)
{
    return option->kind != OPTION_FLAG && !option->is_optional;
}

static void add_values(struct buffer *out, const char *command, const struct option *table)
{
    for (const struct option *option = table; option->name; option++) {
        if (!takes_next_word(option))
            continue;
        buffer_text(out, "    ");
        add_place(out, command, option);
        if (option->kind != OPTION_CHOICE) {
            buffer_text(out, ") return ;;\n");
            continue;
        }
        buffer_text(out, ") words='");
        for (const char *const *choice = option->choices; *choice; choice++)
            buffer_printf(out, "%s%s", choice == option->choices ? "" : " ", *choice);
        buffer_text(out, "' ;;\n");
    }
}

static void add_names(struct buffer *out, const struct command *const *commands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "%s%s", i == 0 ? "" : " ", commands[i]->name);
}

static void add_options(struct buffer *out, const struct option *table)
{
    for (const struct option *option = table; option->name; option++)
        buffer_printf(out, " --%s", option->name);
}

/* Global options before the command take their values with them. */
static void add_leading(struct buffer *out, const struct option *global)
{
    for (const struct option *option = global; option->name; option++) {
        if (takes_next_word(option))
            buffer_printf(out, "        --%s|-%c) ((i++)) ;;\n", option->name, option->letter);
    }
}

static void add_words(struct buffer *out, const struct command *const *commands, size_t count,
                      const struct option *global)
{
    buffer_text(out, "        '') words='");
    add_names(out, commands, count);
    add_options(out, global);
    buffer_text(out, "' ;;\n");
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "        %s) words='", commands[i]->name);
        if (commands[i]->takes_command)
            add_names(out, commands, count);
        for (const char *const *word = commands[i]->words; word && *word; word++)
            buffer_printf(out, "%s ", *word);
        add_options(out, commands[i]->options);
        add_options(out, global);
        buffer_text(out, "' ;;\n");
    }
}

void completion_add(struct buffer *out, const struct command *const *commands, size_t count,
                    const struct option *global)
{
    buffer_text(out, head);
    add_leading(out, global);
    buffer_text(out, found_command);
    for (size_t i = 0; i < count; i++)
        add_values(out, commands[i]->name, commands[i]->options);
    add_values(out, "*", global);
    buffer_text(out, found_value);
    add_words(out, commands, count, global);
    buffer_text(out, tail);
}
