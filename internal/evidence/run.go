package evidence

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
)

// Start is the content of a new run.
type Start struct {
	// Create sets Format, Run and Created of Header.
	Header Header
	Plan   plan.Plan
	// Site and Profile are the files as used.
	Site, Profile []byte
	// Recipe is the resolved recipe as used; nil if the run has none.
	Recipe []byte
	// Inputs are other files that the run is judged against, by file name without directory.
	Inputs map[string][]byte
}

// Options are for tests; the zero value is the default.
type Options struct {
	Clock  func() time.Time // time.Now
	Random io.Reader        // crypto/rand
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Random = cmp.Or(o.Random, rand.Reader)
	return o
}

// Run is an open run. It implements plan.Store.
type Run struct {
	dir   string
	clock func() time.Time

	mu       sync.Mutex
	journal  *journal
	header   Header
	results  map[string]plan.Result
	attempts map[string]int
	begun    map[string]int // attempts without a verdict
	lastSeq  int
	index    map[attemptOf][]string // observation IDs
}

type attemptOf struct {
	step    string
	attempt int
}

// Create creates a run under dir atomically.
func Create(dir string, s Start, o Options) (*Run, error) {
	o = o.withDefaults()
	described, err := DescribePlan(s.Plan)
	if err != nil {
		return nil, err
	}
	h := headerWithoutSecrets(s.Header)
	h.Format, h.Created = FormatVersion, o.Clock().UTC()
	if h.Run, err = newID(h.Created, o.Random); err != nil {
		return nil, err
	}
	done, err := beginCreating(dir)
	if err != nil {
		return nil, fmt.Errorf("create run %s: %w", h.Run, err)
	}
	defer done()
	final := filepath.Join(dir, h.Run)
	if _, err := os.Lstat(final); err == nil {
		return nil, fmt.Errorf("create run %s: already exists", h.Run)
	}
	temp := filepath.Join(dir, "."+h.Run+tempMark)
	if err := os.MkdirAll(filepath.Join(temp, observationsDir), dirMode); err != nil {
		return nil, fmt.Errorf("create run %s: %w", h.Run, err)
	}
	j, err := fill(temp, h, described, s)
	if err != nil {
		return nil, fmt.Errorf("create run %s: %w", h.Run, errors.Join(err, os.RemoveAll(temp)))
	}
	if err := errors.Join(noteBegun(dir, h.Run), os.Rename(temp, final), atomicfile.SyncDir(dir)); err != nil {
		return nil, fmt.Errorf("create run %s: %w", h.Run, errors.Join(err, j.close(), os.RemoveAll(temp)))
	}
	return newRun(final, o, j, h), nil
}

// beginCreating creates and locks dir, and removes the temporary directories of killed
// processes.
func beginCreating(dir string) (done func(), err error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("create the evidence directory: %w", err)
	}
	d := lockOf(dir)
	if err := d.Lock(); err != nil {
		return nil, fmt.Errorf("lock the evidence directory: %w", err)
	}
	if err := removeTemps(dir, isRunTemp); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return func() { _ = d.Close() }, nil
}

// isRunTemp reports whether name is the temporary directory of a run; dir can have other files.
func isRunTemp(name string) bool {
	return isTemp(name) && IsRunID(strings.TrimSuffix(name[1:], tempMark))
}

func newRun(dir string, o Options, j *journal, h Header) *Run {
	return &Run{
		dir: dir, clock: o.Clock, journal: j, header: h,
		results: map[string]plan.Result{}, attempts: map[string]int{},
		begun: map[string]int{}, index: map[attemptOf][]string{},
	}
}

// fill writes the first files of a run and returns its open journal.
func fill(dir string, h Header, p PlanFile, s Start) (*journal, error) {
	siteText, err := redact.YAML(s.Site)
	if err != nil {
		return nil, fmt.Errorf("store the site: %w", err)
	}
	recipe, err := redact.YAML(s.Recipe)
	if err != nil {
		return nil, fmt.Errorf("store the recipe: %w", err)
	}
	err = errors.Join(
		writeJSON(filepath.Join(dir, headerFile), h),
		writeJSON(filepath.Join(dir, planFile), planWithoutSecrets(p)),
		writeDurable(filepath.Join(dir, siteFile), siteText),
		writeDurable(filepath.Join(dir, profileFile), s.Profile),
	)
	if err == nil && len(s.Recipe) > 0 {
		err = writeDurable(filepath.Join(dir, recipeFile), recipe)
	}
	if err != nil {
		return nil, err
	}
	if err := writeInputs(dir, s.Inputs); err != nil {
		return nil, err
	}
	j, _, err := openJournal(filepath.Join(dir, journalFile), os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := j.append(Entry{At: h.Created, Type: EntryCreated}); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

// Open opens the unfinished run at path for writing. ErrFinished: the run has a manifest.
// ErrLocked: another process writes the run.
func Open(path string, o Options) (*Run, error) {
	o = o.withDefaults()
	j, entries, err := openJournal(filepath.Join(path, journalFile), 0)
	if err != nil {
		return nil, fmt.Errorf("open run %s: %w", filepath.Base(path), err)
	}
	r, err := reopen(path, o, j, entries)
	if err != nil {
		return nil, fmt.Errorf("open run %s: %w", filepath.Base(path), errors.Join(err, j.close()))
	}
	return r, nil
}

func reopen(path string, o Options, j *journal, entries []Entry) (*Run, error) {
	if isFinished(path) {
		return nil, ErrFinished
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: the journal is empty", ErrCorrupt)
	}
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(removeTemps(path, isTemp), removeTemps(filepath.Join(path, observationsDir), isTemp)); err != nil {
		return nil, err
	}
	r := newRun(path, o, j, h)
	ids, last, err := listObservations(filepath.Join(path, observationsDir))
	if err != nil {
		return nil, err
	}
	r.lastSeq = last
	for _, e := range entries {
		r.apply(e)
	}
	index, err := indexOf(filepath.Join(path, observationsDir), ids)
	if err != nil {
		return nil, err
	}
	r.index = index
	// A killed Carry leaves observations of attempts that the journal does not have.
	for key := range index {
		r.attempts[key.step] = max(r.attempts[key.step], key.attempt)
	}
	return r, r.append(Entry{Type: EntryResumed})
}

// apply applies an entry of the journal to the state.
func (r *Run) apply(e Entry) {
	switch e.Type {
	case EntryBegun:
		r.attempts[e.Step] = max(r.attempts[e.Step], e.Attempt)
		r.begun[e.Step] = e.Attempt
		delete(r.results, e.Step)
	case EntryVerdict, EntryKept:
		if e.Result != nil {
			r.results[e.Step] = *e.Result
			delete(r.begun, e.Step)
		}
	case EntryAbandoned:
		delete(r.begun, e.Step)
	case EntryCreated, EntryResumed, EntryInterrupted, EntryFinished:
	}
}

// append writes e to the journal and applies it. Callers hold mu or have exclusive access.
func (r *Run) append(e Entry) error {
	e.At = r.clock()
	e.Notes, e.Uncleaned = notesWithoutSecrets(e.Notes), notesWithoutSecrets(e.Uncleaned)
	if err := r.journal.append(e); err != nil {
		return err
	}
	r.apply(e)
	return nil
}

func isFinished(path string) bool {
	_, err := os.Lstat(filepath.Join(path, manifestFile))
	return err == nil
}
