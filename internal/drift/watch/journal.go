package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// The files of a watch, in Dir.
const (
	journalFile     = "journal.jsonl"
	observationsDir = "observations"
	fileMode        = 0o600
	dirMode         = 0o700
	formatVersion   = 1
)

// Dir is the directory of the watch of a run, next to the runs: the files of a run are sealed.
func Dir(evidenceDir, run string) string { return filepath.Join(evidenceDir, "watch", run) }

// ErrLocked is returned if another process watches against the run.
var ErrLocked = errors.New("another firstlight drift --watch is running against this run")

// Header is the first line of the journal: the accepted run that its transitions are relative to.
type Header struct {
	Format   int    `json:"format"`
	Run      string `json:"run"`
	Manifest string `json:"manifest"`
	Site     string `json:"site"`
	Cluster  string `json:"cluster"`
}

// journal appends transitions. It is not safe for concurrent use.
type journal struct {
	dir    string
	f      *os.File
	lock   *flock.Flock
	next   int
	broken error
}

func (j *journal) path() string { return filepath.Join(j.dir, journalFile) }

// openJournal locks the journal in dir, or creates it, and returns its transitions. A last line that
// was not written completely is cut off.
func openJournal(dir string, want Header) (*journal, []Transition, error) {
	if err := os.MkdirAll(filepath.Join(dir, observationsDir), dirMode); err != nil {
		return nil, nil, fmt.Errorf("create the directory of the watch: %w", err)
	}
	path := filepath.Join(dir, journalFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal of the watch: %w", err)
	}
	j := &journal{dir: dir, f: f, lock: flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))}
	transitions, err := j.start(want)
	if err != nil {
		return nil, nil, errors.Join(err, j.close())
	}
	return j, transitions, nil
}

func (j *journal) start(want Header) ([]Transition, error) {
	info, err := j.f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", j.path())
	}
	if err != nil {
		return nil, err
	}
	locked, err := j.lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the journal of the watch: %w", err)
	case !locked:
		return nil, ErrLocked
	}
	data, err := io.ReadAll(j.f)
	if err != nil {
		return nil, fmt.Errorf("read the journal of the watch: %w", err)
	}
	have, transitions, whole, err := parseJournal(data)
	if err != nil {
		return nil, fmt.Errorf("%w; repair or move %s", err, j.path())
	}
	if whole < len(data) {
		if err := errors.Join(j.f.Truncate(int64(whole)), j.f.Sync()); err != nil {
			return nil, fmt.Errorf("cut off the incomplete last line of %s: %w", j.path(), err)
		}
	}
	j.next = len(transitions) + 1
	want.Format = formatVersion
	switch {
	case have == nil:
		return nil, errors.Join(j.write(want), atomicfile.SyncDir(j.dir))
	case *have != want:
		return nil, fmt.Errorf("%s is of run %s (manifest %.12s, cluster %s), not of run %s (manifest %.12s, cluster %s): move it away", j.path(), have.Run, have.Manifest, have.Cluster, want.Run, want.Manifest, want.Cluster)
	default:
		return transitions, nil
	}
}

// parseJournal reads header and transitions; whole is the length of the complete lines. Only the last
// line may be incomplete.
func parseJournal(data []byte) (h *Header, transitions []Transition, whole int, err error) {
	for line := 1; whole < len(data); line++ {
		text, _, ended := bytes.Cut(data[whole:], []byte("\n"))
		if !ended {
			break
		}
		var header Header
		var tr Transition
		var into any = &tr
		if line == 1 {
			into = &header
		}
		next := whole + len(text) + 1
		err := strictjson.Unmarshal(text, into)
		switch {
		case err != nil && next == len(data):
			return h, transitions, whole, nil
		case err != nil:
			return h, transitions, whole, fmt.Errorf("invalid line %d of the journal of the watch: %w", line, err)
		case line == 1 && header.Format != formatVersion:
			return h, transitions, whole, fmt.Errorf("unsupported format %d of the journal of the watch: want %d", header.Format, formatVersion)
		case line == 1:
			h = &header
		case tr.Seq != line-1:
			return h, transitions, whole, fmt.Errorf("line %d of the journal of the watch has sequence number %d", line, tr.Seq)
		default:
			transitions = append(transitions, tr)
		}
		whole = next
	}
	return h, transitions, whole, nil
}

// write appends and syncs one line. After an error it writes nothing more: the line may be incomplete.
func (j *journal) write(v any) error {
	if j.broken != nil {
		return j.broken
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // as -o json prints it
	err := enc.Encode(v)
	if err != nil {
		return fmt.Errorf("encode a line of the journal of the watch: %w", err)
	}
	if _, err = j.f.Write(line.Bytes()); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		j.broken = fmt.Errorf("append to the journal of the watch: %w", err)
	}
	return j.broken
}

// append stores the observations of a transition, then its line, and returns it with its number.
func (j *journal) append(t Transition, obs []check.Observation) (Transition, error) {
	t.Seq = j.next
	if len(obs) > 0 {
		name := filepath.Join(observationsDir, fmt.Sprintf("%06d-%s.json", t.Seq, url.PathEscape(t.Node)))
		data, err := json.Marshal(obs)
		if err != nil {
			return t, fmt.Errorf("encode observations of %s: %w", t.Node, err)
		}
		if err := atomicfile.Write(filepath.Join(j.dir, name), append(data, '\n'), fileMode); err != nil {
			return t, fmt.Errorf("store observations of %s: %w", t.Node, err)
		}
		t.Evidence = filepath.ToSlash(name)
	}
	if err := j.write(t); err != nil {
		return t, err
	}
	j.next++
	return t, nil
}

func (j *journal) close() error {
	if err := errors.Join(j.f.Close(), j.lock.Close()); err != nil {
		return fmt.Errorf("close the journal of the watch: %w", err)
	}
	return nil
}
