package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	// Result is set for EntryVerdict and EntryKept.
	Result *plan.Result `json:"result,omitempty"`
	// Verdict is the overall one, set for EntryFinished.
	Verdict check.Verdict `json:"verdict,omitempty"`
	// Notes of the walk, set for EntryFinished and EntryInterrupted.
	Notes []string `json:"notes,omitempty"`
}

// EntryType is a type of Entry.
type EntryType string

// The types.
const (
	EntryCreated     EntryType = "created"
	EntryResumed     EntryType = "resumed"
	EntryBegun       EntryType = "begun"
	EntryVerdict     EntryType = "verdict"
	EntryKept        EntryType = "kept"
	EntryInterrupted EntryType = "interrupted"
	EntryFinished    EntryType = "finished"
)

// Errors that a caller decides on.
var (
	// ErrLocked: another process writes this run.
	ErrLocked = errors.New("the run is being written by another process")
	// ErrFinished: the run has its manifest and is never written again.
	ErrFinished = errors.New("the run is finished")
	// ErrCorrupt: a file of the run can not be what was written.
	ErrCorrupt = errors.New("the run is corrupt")
)

// parseJournal reads entries; whole is the length of those that are complete.
// What follows them can only be a last line that was being written when the
// process ended; anything else is ErrCorrupt.
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
		entries, whole = append(entries, e), next
	}
	return entries, whole, nil
}

// journal appends entries. It is not safe for use from several goroutines.
type journal struct {
	f      *os.File
	lock   *flock.Flock
	next   int
	broken error
}

// openJournal locks the journal, drops a torn last line, and reads it.
func openJournal(path string, flags int) (*journal, []Entry, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, fileMode)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	held := lockOf(path)
	if err := take(held.TryLock); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	j, entries, err := startJournal(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close(), held.Close())
	}
	j.lock = held
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
			return nil, nil, fmt.Errorf("drop the torn end of the journal: %w", err)
		}
	}
	return &journal{f: f, next: len(entries) + 1}, entries, nil
}

// lockOf is the lock of a file or directory that exists. It is taken off when it
// is closed, and not only when the last copy of its descriptor is: a process
// that is being started has one for a moment.
func lockOf(path string) *flock.Flock { return flock.New(path, flock.SetFlag(os.O_RDONLY)) }

// take takes a lock or says ErrLocked.
func take(try func() (bool, error)) error {
	ok, err := try()
	if err != nil {
		return fmt.Errorf("lock the journal: %w", err)
	}
	if !ok {
		return ErrLocked
	}
	return nil
}

// append writes one entry, synced. After an error nothing more is written: the
// line may be there in part.
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
