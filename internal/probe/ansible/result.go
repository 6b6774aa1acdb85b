package ansible

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// The states of an Event.
const (
	Changed     = "changed"
	Failed      = "failed" // also a failure that the playbook ignores or rescues: the host's Stats say so
	Unreachable = "unreachable"
)

// Result is one run of ansible-playbook.
type Result struct {
	// Plays and Tasks are the numbers of those that began.
	Plays int `json:"plays"`
	Tasks int `json:"tasks"`
	// Hosts are the hosts of the recap, by name.
	Hosts map[string]Host `json:"hosts"`
	// Events are the results of tasks that changed or failed, in order.
	Events []Event `json:"events,omitempty"`
}

// Host is the result of one host.
type Host struct {
	// Stats are the counts of the recap.
	Stats
	// Done is the number of tasks that were carried out, without those that were skipped or failed, that
	// gather facts, or that Ansible itself carries out without the host (debug, set_fact).
	Done int `json:"done"`
}

// Stats are counts of tasks. OK has those that changed something; a task that failed and was rescued
// or ignored does not count as a failure.
type Stats struct {
	OK          int `json:"ok"`
	Changed     int `json:"changed"`
	Failures    int `json:"failures"`
	Unreachable int `json:"unreachable"`
	Skipped     int `json:"skipped"`
	Rescued     int `json:"rescued"`
	Ignored     int `json:"ignored"`
}

// Event is the result of a task on a host.
type Event struct {
	Play  string `json:"play"`
	Task  string `json:"task"`
	Host  string `json:"host"`
	State string `json:"state"`
	// Message is the module's, for a task that failed; one line.
	Message string `json:"message,omitempty"`
}

// document is what the callback prints.
type document struct {
	Plays []struct {
		Play  struct{ Name string }
		Tasks []struct {
			Task  struct{ Name string }
			Hosts map[string]outcome
		}
	}
	Stats map[string]Stats
}

// outcome is the result of a module. Its other keys are the module's own, which may return any type
// under any key, also under these.
type outcome struct {
	action, censored                      string
	changed, failed, skipped, unreachable bool
	msg                                   json.RawMessage
	items                                 []item
}

// item is the result of one item of a loop.
type item struct {
	failed bool
	msg    json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler. The fields of a struct would also be set by keys that
// differ in their case.
func (o *outcome) UnmarshalJSON(data []byte) error {
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	*o = outcome{
		action: text(keys["action"]), censored: text(keys["censored"]), msg: keys["msg"],
		changed: isTrue(keys["changed"]), failed: isTrue(keys["failed"]), skipped: isTrue(keys["skipped"]), unreachable: isTrue(keys["unreachable"]),
	}
	var results []json.RawMessage
	if json.Unmarshal(keys["results"], &results) != nil {
		results = nil // not those of a loop
	}
	for _, raw := range results {
		one := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &one) == nil { // yum and dnf return texts
			o.items = append(o.items, item{isTrue(one["failed"]), one["msg"]})
		}
	}
	return nil
}

// isTrue is true for JSON's true only: modules of third parties return other types.
func isTrue(raw json.RawMessage) bool { return string(raw) == "true" }

// text is a JSON string; empty for a value of another type.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// ErrNoDocument is the error for output without the callback's document: ansible-playbook ended before
// its recap, or has another callback.
var ErrNoDocument = errors.New("no result of the callback ansible.posix.json in the output")

// Parse reads the standard output of ansible-playbook. Other callbacks, and ansible-playbook -v, may
// print lines before and after the document.
func Parse(raw []byte) (Result, error) {
	return guard.Parse("the result of ansible-playbook", func() (Result, error) {
		at := begin(raw)
		if at < 0 {
			return Result{}, ErrNoDocument
		}
		decoder := json.NewDecoder(bytes.NewReader(raw[at:]))
		var keys struct{ Plays, Stats json.RawMessage }
		if err := decoder.Decode(&keys); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return Result{}, errors.New("the result of ansible-playbook is cut short")
			}
			return Result{}, fmt.Errorf("decode the result of ansible-playbook: %w", err)
		}
		if keys.Plays == nil || keys.Stats == nil {
			return Result{}, fmt.Errorf("%w: a document without plays and stats", ErrNoDocument)
		}
		if begin(raw[at+int(decoder.InputOffset()):]) >= 0 {
			return Result{}, errors.New("the output of ansible-playbook has more than one document")
		}
		var d document
		if err := errors.Join(json.Unmarshal(keys.Plays, &d.Plays), json.Unmarshal(keys.Stats, &d.Stats)); err != nil {
			return Result{}, fmt.Errorf("decode the result of ansible-playbook: %w", err)
		}
		return d.result(), nil
	})
}

// begin is the index of the first line that begins a document; -1: not found.
func begin(raw []byte) int {
	if bytes.HasPrefix(raw, []byte("{")) {
		return 0
	}
	if i := bytes.Index(raw, []byte("\n{")); i >= 0 {
		return i + 1
	}
	return -1
}

func (d document) result() Result {
	r := Result{Plays: len(d.Plays), Hosts: map[string]Host{}}
	done := map[string]int{}
	for _, p := range d.Plays {
		for _, t := range p.Tasks {
			r.Tasks++
			for _, host := range sortedKeys(t.Hosts) {
				o := t.Hosts[host]
				e := Event{Play: p.Play.Name, Task: t.Task.Name, Host: host}
				switch {
				case o.unreachable:
					e.State, e.Message = Unreachable, o.message()
				case o.failed:
					e.State, e.Message = Failed, o.message()
				case o.skipped:
					continue
				case o.changed:
					e.State = Changed
				}
				if e.State == "" || e.State == Changed {
					if reachesHost(o.action) {
						done[host]++
					}
				}
				if e.State != "" {
					r.Events = append(r.Events, e)
				}
			}
		}
	}
	for name, s := range d.Stats {
		r.Hosts[name] = Host{Stats: s, Done: done[name]}
	}
	return r
}

// withoutHost are the actions that change no host: they gather facts, or run in ansible-playbook itself.
var withoutHost = []string{
	"add_host", "assert", "debug", "fail", "gather_facts", "group_by", "import_playbook", "import_role", "import_tasks",
	"include", "include_role", "include_tasks", "include_vars", "meta", "pause", "set_fact", "set_stats", "setup", "validate_argument_spec",
}

func reachesHost(action string) bool {
	return !slices.Contains(withoutHost, action[strings.LastIndexByte(action, '.')+1:])
}

// maxMessage limits a message, in bytes.
const maxMessage = 500

// message is that of the module; of a loop, that of the first item that failed.
func (o outcome) message() string {
	if o.censored != "" {
		return "the task has no_log: its result is hidden"
	}
	for _, i := range o.items {
		if message := line(i.msg); i.failed && message != "" {
			return message
		}
	}
	return line(o.msg)
}

// line is a text in one line; empty for a value of another type, which may be a variable.
func line(msg json.RawMessage) string {
	message := strings.Join(strings.Fields(text(msg)), " ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " ..."
	}
	return message
}
