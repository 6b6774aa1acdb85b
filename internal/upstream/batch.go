package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// batch is a set of programs of one group that one go build compiles: shared packages are compiled
// once, and a program is linked while the next one is compiled.
type batch struct {
	group
	programs []program
}

// batches splits a group so that go build, which names programs after their packages, gives no two
// programs of a batch the same file name.
func batches(g group) []batch {
	var all []batch
	for _, p := range g.Programs {
		placed := false
		for i := range all {
			if !all[i].writes(p.binary()) {
				all[i].programs = append(all[i].programs, p)
				placed = true
				break
			}
		}
		if !placed {
			all = append(all, batch{group: g, programs: []program{p}})
		}
	}
	return all
}

func (b batch) writes(binary string) bool {
	return slices.ContainsFunc(b.programs, func(p program) bool { return p.binary() == binary })
}

var majorVersion = regexp.MustCompile(`^v[2-9][0-9]*$`)

// binary is the file name of go build -o DIR/: the last element of the package path, or the one
// before a major version.
func (p program) binary() string {
	dir, last := path.Split(p.Package)
	if majorVersion.MatchString(last) {
		return path.Base(dir)
	}
	return last
}

// build builds a batch and makes each program available as soon as it is linked.
func (b Builder) build(ctx context.Context, m batch, programs Programs, events func(Event)) (err error) {
	job := build{builder: b, batch: m, programs: programs, begin: b.Clock.Now(), events: events}
	defer func() {
		if err == nil {
			return
		}
		for _, p := range m.programs {
			if !programs.files[p.Name].finished() {
				events(Event{Program: p.Name, State: Failed, Detail: err.Error()})
			}
		}
	}()
	if job.dir, err = b.dir(m.group); err != nil {
		return err
	}
	if job.flags, err = m.flags(m.programs); err != nil {
		return err
	}
	if err := os.MkdirAll(job.dir, 0o750); err != nil {
		return fmt.Errorf("build %s: make cache directory: %w", m.Name, err)
	}
	unlock, err := lock(ctx, job.dir+".lock", func() { job.report("waiting for another firstlight to build it") })
	if err != nil {
		return fmt.Errorf("build %s: %w", m.Name, err)
	}
	defer unlock()
	if err := job.useFinished(); err != nil || len(job.batch.programs) == 0 {
		return err
	}
	return job.run(ctx)
}

// useFinished uses programs that another firstlight built while this one waited for the lock.
func (j *build) useFinished() error {
	missing := j.batch.programs[:0:0]
	for _, p := range j.batch.programs {
		path := filepath.Join(j.dir, p.Name)
		if !usable(path) {
			missing = append(missing, p)
			continue
		}
		if err := verify(path); err != nil {
			return fmt.Errorf("build %s: %w", p.Name, err)
		}
		j.events(Event{Program: p.Name, State: Cached, Elapsed: metav1.Duration{Duration: j.elapsed()}})
		j.programs.files[p.Name].finish(path, nil)
	}
	j.batch.programs = missing
	return nil
}

// take moves linked programs from the scratch directory to the cache with their digests. go build
// renames complete programs only.
func (j *build) take(scratch string) error {
	var errs []error
	for _, p := range j.batch.programs {
		f := j.programs.files[p.Name]
		from, to := filepath.Join(scratch, outDir, p.binary()), filepath.Join(j.dir, p.Name)
		if f.finished() || !runnable(from) {
			continue
		}
		digest, err := Digest(from)
		if err == nil {
			err = place(from, to, digest)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("build %s: %w", p.Name, err))
			continue
		}
		j.events(Event{Program: p.Name, State: Built, Done: j.done, Total: j.total, Elapsed: metav1.Duration{Duration: j.elapsed()}})
		f.finish(to, nil)
	}
	return errors.Join(errs...)
}

// next is the first missing program, for progress events.
func (j *build) next() string {
	for _, p := range j.batch.programs {
		if !j.programs.files[p.Name].finished() {
			return p.Name
		}
	}
	return j.batch.programs[len(j.batch.programs)-1].Name
}

func (j *build) names() string {
	var names []string
	for _, p := range j.batch.programs {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func (j *build) elapsed() time.Duration { return j.builder.Clock.Since(j.begin) }
