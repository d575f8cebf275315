// check_json.c - findings in a document.
#include "cli/check_report.h"
#include "cli/json_keys.h"
#include "cli/report.h"

static void put_notes(Json *j, const Cli *c, const CheckFinding *f)
{
    json_key(j, TEXT("notes"));
    json_begin_array(j);
    for (int i = 0; i < f->note_count; i++) {
        json_begin_object(j);
        json_key(j, TEXT("message"));
        json_text(j, f->notes[i].text);
        if (f->notes[i].at.file)
            report_json_place(j, c, f->notes[i].at);
        json_end_object(j);
    }
    json_end_array(j);
}

void check_finding_json(Json *j, const Cli *c, const KernelObject *k,
                        const CheckFinding *f, CheckLevel level, int cause)
{
    const FindingInfo *info = finding_info(f->id);

    json_begin_object(j);
    key_string(j, "id", info->slug);
    key_string(j, "check", check_group_name(info->group));
    key_string(j, "level", level == CHECK_ERROR ? "error" : "warning");
    json_key(j, TEXT("kernel"));
    json_text(j, k->ir->name);
    report_json_place(j, c, f->at);
    json_key(j, TEXT("message"));
    json_text(j, f->message);
    key_int(j, "count", f->count);
    key_int(j, "cause", cause);
    if (f->block >= 0) {
        key_int(j, "launch", f->launch);
        key_int(j, "block", f->block);
    }
    put_notes(j, c, f);
    if (f->fix.len) {
        json_key(j, TEXT("fix"));
        json_text(j, f->fix);
    }
    json_end_object(j);
}
