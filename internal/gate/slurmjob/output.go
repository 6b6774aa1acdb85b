package slurmjob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/workload"
)

// printed is the output of a job.
type printed struct {
	tasks []task
	// exit is the code that the batch script ended with; nil if its end is not in the output.
	exit *int
	// messages are the lines without a label: those of Slurm, and of the batch script.
	messages []string
}

// task is the output of a node's task.
type task struct {
	node string
	log  bytes.Buffer
	// exit is nil if the end of the task is not in the output.
	exit *int32
	// named is the node that srun names for a task that has failed.
	named string
	// began is when it began, by the clock of its node; zero if that is not known.
	began time.Time
}

// ownFile ends a script unless $0 is the path of a file of this user.
const ownFile = `if [ -L "$0" ] || { [ -e "$0" ] && [ ! -O "$0" ]; }; then echo "$0 is not a file of this user" >&2; exit 1; fi
`

// readScript prints a file of this user, and removeScript deletes it; $0 is its path. They are two commands: the output
// of a command is lost if the connection ends, or if it is too long.
const (
	readScript   = ownFile + `cat "$0"`
	removeScript = ownFile + `rm -f "$0"`
)

// read returns the output of a job, and then deletes its file, which is on the login host if the directory is shared, and
// else on the batch host. A file of another user, who may have guessed its name in /tmp, is not read. left is why a file that was read remains.
func (r Runner) read(ctx context.Context, j Job, id, batchHost string) (raw []byte, left, err error) {
	file, login := r.output(j, id), r.Site.Slurm.Host()
	raw, left, onLogin := readFile(ctx, r.run, "cat", file, login)
	if onLogin == nil {
		return raw, left, nil
	}
	if batchHost == "" {
		return nil, nil, fmt.Errorf("read %s on %s: %w", file, login, onLogin)
	}
	timeout := r.Site.Slurm.JobTimeout.D()
	srun := append(r.Site.SrunCommand(Name(j.Gate+"-output", r.RunID), []string{batchHost}, j.GPUs, timeout), "--ntasks=1", "--immediate="+strconv.Itoa(max(1, int(timeout.Seconds()))))
	onNode := func(ctx context.Context, argv ...string) (ssh.Output, error) {
		if err := r.freeLater(ctx, []string{batchHost}); err != nil { // for each job: another one may have begun since the last
			return ssh.Output{}, err
		}
		return r.run(ctx, append(slices.Clone(srun), argv...)...)
	}
	raw, left, onBatch := readFile(ctx, onNode, "srun", file, batchHost)
	if onBatch != nil {
		return nil, nil, fmt.Errorf("read %s: on %s: %w; on %s: %w", file, login, onLogin, batchHost, onBatch)
	}
	return raw, left, nil
}

// readFile reads a file, and deletes it once it was read. left is why it remains.
func readFile(ctx context.Context, run func(context.Context, ...string) (ssh.Output, error), name, file, host string) (raw []byte, left, err error) {
	out, err := run(ctx, "sh", "-c", readScript, file)
	if err != nil || out.Exit != 0 {
		return nil, nil, problemOf(name, out, err)
	}
	if removed, err := run(ctx, "sh", "-c", removeScript, file); err != nil || removed.Exit != 0 {
		left = fmt.Errorf("%s remains on %s: %w", file, host, problemOf(strings.Replace(name, "cat", "rm", 1), removed, err))
	}
	return out.Stdout, left, nil
}

// problemOf is why a command did not succeed.
func problemOf(name string, out ssh.Output, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s exited with code %d: %.300s", name, out.Exit, bytes.ToValidUTF8(bytes.TrimSpace(out.Stderr), []byte("?")))
}

// label is that of srun --label, padded to the width of the highest number.
var label = regexp.MustCompile(`^ *(\d+): ?`)

// parse splits the output of a job of n nodes by task. A line that no task of the job can have printed is an error.
func parse(raw []byte, id string, n int) (printed, error) {
	return guard.Parse("the output of job "+id, func() (printed, error) {
		p, err := split(raw, id, n)
		p.exits()
		return p, err
	})
}

func split(raw []byte, id string, n int) (printed, error) {
	p := printed{tasks: make([]task, n)}
	for line := range bytes.Lines(raw) {
		m := label.FindSubmatchIndex(line)
		if m == nil {
			p.message(string(bytes.TrimRight(line, "\r\n")), id)
			continue
		}
		i, err := strconv.Atoi(string(line[m[2]:m[3]]))
		if err != nil || i >= n {
			return p, fmt.Errorf("the output has a task %.20s: the job has %d", line[m[2]:m[3]], n)
		}
		if err := p.tasks[i].add(i, line[m[1]:]); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *printed) message(line, id string) {
	if words := strings.Fields(line); len(words) == 4 && words[0] == batchMark && words[1] == "end" && words[2] == id {
		if code, err := strconv.Atoi(words[3]); err == nil {
			p.exit = &code
		}
		return
	}
	if line = strings.TrimSpace(line); line != "" {
		p.messages = append(p.messages, line)
	}
}

// failed matches srun's line about tasks that have failed by themselves: those that it has ended are "Terminated" or
// "Killed". The nodes and the numbers may be lists.
var failed = regexp.MustCompile(`^srun: error: (\S+): tasks? (\[?[\d,-]+\]?): Exited with exit code (\d+)$`)

// exits are the codes of tasks whose end is not in the output, as srun has them: a container that does not start has
// no task, and a task that srun ends may have printed no end.
func (p *printed) exits() {
	for _, line := range p.messages {
		m := failed.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		code, err := strconv.ParseInt(m[3], 10, 32)
		if err != nil {
			continue
		}
		for part := range strings.SplitSeq(strings.Trim(m[2], "[]"), ",") {
			from, to, isRange := strings.Cut(part, "-")
			first, err := strconv.Atoi(from)
			last := first
			if err == nil && isRange {
				last, err = strconv.Atoi(to)
			}
			if err != nil {
				continue
			}
			for i := first; i <= min(last, len(p.tasks)-1); i++ {
				p.tasks[i].failed(int32(code), m[1]) //nolint:gosec // ParseInt bounds it
			}
		}
	}
}

func (t *task) failed(code int32, node string) {
	if t.exit == nil {
		t.exit = &code
	}
	if !strings.Contains(node, "[") {
		t.named = node
	}
}

// add adds a line to the output of the task of this number.
func (t *task) add(number int, line []byte) error {
	words := strings.Fields(string(line))
	if len(words) == 0 || words[0] != taskMark {
		t.log.Write(line)
		return nil
	}
	const timed = 5 // a beginning with its time
	if len(words) != 4 && (len(words) != timed || words[1] != "begin") || words[2] != strconv.Itoa(number) {
		return fmt.Errorf("unexpected line of task %d: %.120q", number, line)
	}
	switch words[1] {
	case "begin":
		if t.node != "" {
			return fmt.Errorf("task %d began twice", number)
		}
		t.node = words[3]
		if len(words) == timed {
			seconds, err := strconv.ParseInt(words[timed-1], 10, 64)
			if err != nil || seconds <= 0 {
				return fmt.Errorf("unexpected line of task %d: %.120q", number, line)
			}
			t.began = time.Unix(seconds, 0).UTC()
		}
	case "end":
		code, err := strconv.ParseInt(words[3], 10, 32)
		if err != nil {
			return fmt.Errorf("unexpected line of task %d: %.120q", number, line)
		}
		exit := int32(code)
		t.exit = &exit
	}
	return nil
}

// logs are those of the tasks. The log of a task whose end is missing, of a job that succeeded, is not complete.
func (p printed) logs(succeeded bool) []gangjob.Log {
	var out []gangjob.Log
	for i := range p.tasks {
		t := &p.tasks[i]
		log := gangjob.Log{Pod: workload.Outcome{Pod: fmt.Sprintf("task-%d", i), Index: i, Node: cmp.Or(t.node, t.named), Phase: t.phase(), ExitCode: t.exit, Started: t.began}, Data: t.log.Bytes()}
		if succeeded && t.exit == nil {
			log.Err = errIncomplete.Error()
		}
		out = append(out, log)
	}
	return out
}

var errIncomplete = errors.New("the output of the job has no end of the task")

// NotBegun is the phase of a task whose beginning is not in the output.
const NotBegun = "not begun"

func (t *task) phase() string {
	switch {
	case t.node == "":
		return NotBegun
	case t.exit == nil:
		return "not ended"
	default:
		return "ended"
	}
}
