package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/plan"
)

// Entry is one line of the journal.
type Entry struct {
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Type EntryType `json:"type"`
	Step string    `json:"step,omitempty"`
	// Attempt is set for EntryBegun.
	Attempt int `json:"attempt,omitempty"`
	// Result is set for EntryVerdict, EntryKept and EntryAbandoned.
	Result *plan.Result `json:"result,omitempty"`
	// Verdict is the overall verdict, set for EntryFinished.
	Verdict check.Verdict `json:"verdict,omitempty"`
	// Uncleaned are the errors of the final clean-up, set for EntryFinished.
	Uncleaned []string `json:"uncleaned,omitempty"`
	// Notes of the run, set for EntryFinished and EntryInterrupted.
	Notes []string `json:"notes,omitempty"`
}

// EntryType is the type of an Entry.
type EntryType string

// The entry types.
const (
	EntryCreated     EntryType = "created"
	EntryResumed     EntryType = "resumed"
	EntryBegun       EntryType = "begun"
	EntryVerdict     EntryType = "verdict"
	EntryKept        EntryType = "kept"
	EntryInterrupted EntryType = "interrupted"
	// EntryAbandoned has the judgement of an attempt without a verdict, written before the next attempt.
	// Its result is not the verdict of the step.
	EntryAbandoned EntryType = "abandoned"
	EntryFinished  EntryType = "finished"
)

// Errors that callers handle.
var (
	// ErrLocked: another process writes or signs the run.
	ErrLocked = errors.New("another process is writing or signing the run")
	// ErrFinished: the run has a manifest and must not be changed.
	ErrFinished = errors.New("the run is finished")
	// ErrCorrupt: a file of the run is invalid.
	ErrCorrupt = errors.New("the run is corrupt")
)

// parseJournal parses entries; whole is the length in bytes of the complete entries. Only an
// incomplete last line, written when the process ended, can follow; anything else is
// ErrCorrupt.
func parseJournal(data []byte) (entries []Entry, whole int, err error) {
	for whole < len(data) {
		line, _, ended := bytes.Cut(data[whole:], []byte("\n"))
		var e Entry
		decodeErr := strictjson.Unmarshal(line, &e)
		if !ended {
			return entries, whole, nil
		}
		next := whole + len(line) + 1
		if decodeErr != nil {
			if next == len(data) {
				return entries, whole, nil
			}
			return entries, whole, fmt.Errorf("%w: journal line %d: %w", ErrCorrupt, len(entries)+1, decodeErr)
		}
		if e.Seq != len(entries)+1 {
			return entries, whole, fmt.Errorf("%w: journal line %d has sequence number %d", ErrCorrupt, len(entries)+1, e.Seq)
		}
		if e.Result != nil && e.Result.Step != e.Step {
			return entries, whole, fmt.Errorf("%w: journal line %d of step %q has the result of step %q", ErrCorrupt, e.Seq, e.Step, e.Result.Step)
		}
		entries, whole = append(entries, e), next
	}
	return entries, whole, nil
}

// journal appends entries. It is not safe for concurrent use.
type journal struct {
	f      *os.File
	lock   *flock.Flock
	next   int
	broken error
}

// openJournal locks and reads the journal and truncates an incomplete last line.
func openJournal(path string, flags int) (*journal, []Entry, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, fileMode)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	if err := requireRegular(f); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the journal: %w", err), f.Close())
	}
	lock := lockOf(path)
	if err := tryLock(lock.TryLock); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	j, entries, err := startJournal(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close(), lock.Close())
	}
	j.lock = lock
	return j, entries, nil
}

func startJournal(f *os.File) (*journal, []Entry, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, fmt.Errorf("read the journal: %w", err)
	}
	entries, whole, err := parseJournal(data)
	if err != nil {
		return nil, nil, err
	}
	if whole < len(data) {
		if err := errors.Join(f.Truncate(int64(whole)), f.Sync()); err != nil {
			return nil, nil, fmt.Errorf("truncate the incomplete last line of the journal: %w", err)
		}
	}
	return &journal{f: f, next: len(entries) + 1}, entries, nil
}

// lockOf is the lock of an existing file or directory. Close releases it even while a child
// process that is being started still has a copy of the descriptor. A FIFO does not block it.
func lockOf(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))
}

// tryLock returns ErrLocked if another process holds the lock.
func tryLock(try func() (bool, error)) error {
	ok, err := try()
	if err != nil {
		return fmt.Errorf("lock the journal: %w", err)
	}
	if !ok {
		return ErrLocked
	}
	return nil
}

// append writes and syncs one entry. After an error it writes nothing more: the line can be
// incomplete.
func (j *journal) append(e Entry) error {
	if j.broken != nil {
		return j.broken
	}
	e.Seq, e.At = j.next, e.At.UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode a journal entry: %w", err)
	}
	if _, err = j.f.Write(append(line, '\n')); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		j.broken = fmt.Errorf("append to the journal: %w", err)
		return j.broken
	}
	j.next++
	return nil
}

func (j *journal) close() error {
	if err := errors.Join(j.f.Close(), j.lock.Close()); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}
