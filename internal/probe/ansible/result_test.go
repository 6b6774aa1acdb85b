package ansible

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// Outputs of the real program; see testdata/README.md.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Result{
		"first.json": {Plays: 1, Tasks: 2, Hosts: map[string]Host{
			"gpu-01": {Stats{OK: 2, Changed: 1}, 1}, "gpu-02": {Stats{OK: 2, Changed: 1}, 1},
		}, Events: []Event{
			{"Nodes", "Write the file", "gpu-01", Changed, ""}, {"Nodes", "Write the file", "gpu-02", Changed, ""},
		}},
		"second.json":        {Plays: 1, Tasks: 2, Hosts: map[string]Host{"gpu-01": {Stats{OK: 2}, 1}, "gpu-02": {Stats{OK: 2}, 1}}},
		"profile-tasks.json": {Plays: 1, Tasks: 2, Hosts: map[string]Host{"gpu-01": {Stats{OK: 2}, 1}, "gpu-02": {Stats{OK: 2}, 1}}},
		"mixed.json": {Plays: 1, Tasks: 8, Hosts: map[string]Host{
			"gpu-01": {Stats{OK: 7, Changed: 3, Skipped: 1, Ignored: 1}, 5},
			"gpu-02": {Stats{OK: 2, Failures: 1, Skipped: 1, Ignored: 1}, 1},
			"gpu-03": {Stats{Unreachable: 1}, 0},
		}, Events: []Event{
			{"Nodes", "Reach the host", "gpu-03", Unreachable, "Failed to connect to the host via ssh: ssh: connect to host 127.0.0.1 port 1: Connection refused"},
			{"Nodes", "Tolerated", "gpu-01", Failed, "non-zero return code"},
			{"Nodes", "Tolerated", "gpu-02", Failed, "non-zero return code"},
			{"Nodes", "Loop", "gpu-02", Failed, "non-zero return code"},
			{"Nodes", "Secret", "gpu-01", Changed, ""},
			{"Nodes", "Append", "gpu-01", Changed, ""},
			{"Nodes", "Restart", "gpu-01", Changed, ""},
		}},
		"skipped.json": {Plays: 1, Tasks: 4, Hosts: map[string]Host{
			"gpu-01": {Stats{OK: 3, Changed: 1, Rescued: 1}, 1}, "gpu-02": {Stats{OK: 1, Skipped: 2}, 0},
		}, Events: []Event{
			{"Nodes", "Only on one", "gpu-01", Changed, ""},
			{"Nodes", "Fails", "gpu-01", Failed, "no driver for this kernel"},
		}},
		"no-log.json": {Plays: 1, Tasks: 1, Hosts: map[string]Host{"gpu-01": {Stats{Failures: 1}, 0}}, Events: []Event{
			{"Nodes", "Log in", "gpu-01", Failed, "the task has no_log: its result is hidden"},
		}},
		"no-inventory.json": {Plays: 1, Hosts: map[string]Host{}},
	} {
		got, err := Parse(fixture(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, want)
		}
	}
}

// A document that is cut short, doubled or of another kind is an error, at whatever byte it ends.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	whole := bytes.TrimRight(fixture(t, "second.json"), "\n")
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were read as a result", n, len(whole))
		}
	}
	for name, c := range map[string]struct{ raw, want string }{
		"nothing":      {"", ErrNoDocument.Error()},
		"another":      {"PLAY RECAP ****\ngpu-01 : ok=1 changed=0\n", ErrNoDocument.Error()},
		"no stats":     {`{"plays": []}`, "a document without plays and stats"},
		"two":          {string(whole) + "\n" + string(whole), "more than one document"},
		"another type": {`{"plays": {}, "stats": {}}`, "cannot unmarshal object"},
	} {
		if _, err := Parse([]byte(c.raw)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Parse([]byte("x")); !errors.Is(err, ErrNoDocument) {
		t.Error(err)
	}
}

// Values of a module never become part of a message.
func TestParseDropsValues(t *testing.T) {
	t.Parallel()
	raw := `{"plays": [{"play": {"name": "p"}, "tasks": [{"task": {"name": "t"}, "hosts": {"a": {"failed": true, "changed": "yes",
		"msg": {"password": "hunter2"}, "stdout": "hunter2", "ansible_facts": {"token": "hunter2"}, "invocation": {"module_args": "hunter2"}}}}]}],
		"stats": {"a": {"failures": 1}}}`
	r, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Event{{"p", "t", "a", Failed, ""}}; !reflect.DeepEqual(r.Events, want) {
		t.Errorf("%+v, want %+v", r.Events, want)
	}
	if long := line([]byte(`"` + strings.Repeat("é", 300) + `"`)); len(long) > maxMessage+4 || !strings.HasSuffix(long, "é ...") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

// The keys of a result are the module's: a value of another type, or a key that differs in its case, says nothing
// of the task. The results of yum and dnf are texts (ansible 2.9, log of a role in a public repository), those of
// other modules may be an object.
func TestParseTakesValuesOfAnyType(t *testing.T) {
	t.Parallel()
	const before = `{"plays": [{"play": {"name": "p"}, "tasks": [{"task": {"name": "t"}, "hosts": {"a": `
	const after = `}}]}], "stats": {"a": {"ok": 1, "failures": 1}}}`
	failed := func(message string) []Event { return []Event{{"p", "t", "a", Failed, message}} }
	for name, tt := range map[string]struct {
		outcome string
		done    int
		events  []Event
	}{
		"results of yum":         {`{"action": "yum", "changed": false, "msg": "", "rc": 0, "results": ["nfs-utils-1.x86_64 providing nfs-utils is already installed"]}`, 1, nil},
		"results of a failure":   {`{"action": "yum", "failed": true, "msg": "No package x", "results": ["No package matching 'x' found"]}`, 0, failed("No package x")},
		"a loop of mixed items":  {`{"action": "command", "failed": true, "results": ["text", {"failed": true, "msg": "second"}]}`, 0, failed("second")},
		"results are an object":  {`{"action": "uri", "changed": false, "results": {"count": 2}}`, 1, nil},
		"results are a number":   {`{"action": "uri", "changed": false, "results": 2}`, 1, nil},
		"no action":              {`{"action": null, "changed": false}`, 1, nil},
		"a censored that is not": {`{"action": "x", "failed": true, "censored": false, "msg": "m"}`, 0, failed("m")},
		"keys in another case":   {`{"action": "command", "Action": ["s3:Get"], "Results": 7, "Failed": true, "FAILED": true, "Censored": {}}`, 1, nil},
		"and after the own keys": {`{"Failed": false, "action": "command", "failed": true, "msg": "m", "Msg": "n"}`, 0, failed("m")},
	} {
		r, err := Parse([]byte(before + tt.outcome + after))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Hosts["a"].Done != tt.done || !reflect.DeepEqual(r.Events, tt.events) {
			t.Errorf("%s: %d done, events %+v; want %d, %+v", name, r.Hosts["a"].Done, r.Events, tt.done, tt.events)
		}
	}
}

func TestParseHosts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"list-hosts.txt": {"gpu-01", "gpu-02"}, "list-hosts-plays.txt": {"gpu-01", "gpu-02", "gpu-03"}, "list-hosts-none.txt": {},
	} {
		plays, err := ParseHosts(fixture(t, name))
		if got := HostsOf(plays); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	plays, err := ParseHosts(fixture(t, "list-hosts-plays.txt"))
	want := []Play{
		{"play #1 (nodes): nodes", []string{"gpu-03", "gpu-01", "gpu-02"}}, {"play #2 (gpu-01,gpu-03): x): y", []string{"gpu-03", "gpu-01"}}, {"play #3 (none): none", []string{}},
	}
	if err != nil || !reflect.DeepEqual(plays, want) {
		t.Errorf("%+v, %v; want %+v", plays, err, want)
	}
	whole := strings.TrimRight(string(fixture(t, "list-hosts.txt")), "\n")
	for name, raw := range map[string]string{
		"nothing": "", "cut short": whole[:len(whole)-len("      gpu-02")], "another line": strings.Replace(whole, "      gpu-01", "      a b", 1),
	} {
		if got, err := ParseHosts([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"mixed.json", "profile-tasks.json", "no-log.json", "no-inventory.json"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Parse(raw)
		if err == nil && r.Hosts == nil {
			t.Error("no hosts and no error")
		}
		for _, e := range r.Events {
			if len(e.Message) > maxMessage+4 || strings.Contains(e.Message, "\n") {
				t.Errorf("message %q", e.Message)
			}
		}
	})
}

func FuzzParseHosts(f *testing.F) {
	for _, name := range []string{"list-hosts.txt", "list-hosts-plays.txt", "list-hosts-none.txt"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		plays, err := ParseHosts(raw)
		if err == nil && len(plays) == 0 {
			t.Error("no play and no error")
		}
		for _, p := range plays {
			if p.Hosts == nil {
				t.Errorf("play %q has null hosts", p.Name)
			}
		}
	})
}
