package calendar

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Why this library, and what is asked of it: the expressions are read, and matched
// with the fields of a date, by robfig/cron v3.0.1, which Kubernetes' CronJobs use:
// people know what it takes. It is asked about dates without a zone only. None of
// the libraries does at changes of the clock what its documentation says, tried in
// November 2026: robfig/cron v3.0.1 leaves out what the clock jumps over (as it
// says) and runs twice what the clock shows twice; netresearch/go-cron v0.9.1, its
// fork that is made for this, runs twice as well, although it says "first
// occurrence", and leaves out the whole day where midnight is jumped over
// (America/Santiago); adhocore/gronx v1.20.4 leaves out what is jumped over, and
// takes the first of two hours in America/New_York and the second in Europe/Berlin.
// What becomes of a time that is not there, or is there twice, is decided in
// zone.go, for every zone alike.

// fields are a cron expression; they match times of the clock, in UTC.
type fields struct{ cron.Schedule }

const maxCron = 120

var (
	errTooOften = errors.New("it occurs more than once an hour: no cluster is stood up or torn down so fast")
	errDate     = errors.New("there is no such date")
)

// parseCron reads five fields.
func parseCron(text string) (fields, error) {
	switch {
	case len(text) > maxCron:
		return fields{}, fmt.Errorf("it is longer than %d characters", maxCron)
	case strings.Contains(text, "=") || strings.HasPrefix(strings.TrimSpace(text), "@"):
		return fields{}, errors.New("it has to be five fields: minute, hour, day of the month, month, day of the week")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return fields{}, err //nolint:wrapcheck // the caller names the expression
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return fields{}, fmt.Errorf("it is read as %T, not as five fields", parsed)
	}
	spec.Location = time.UTC
	const minutes = 1<<60 - 1 // above them is the library's mark of a star
	if bits.OnesCount64(spec.Minute&minutes) > 1 {
		return fields{}, errTooOften
	}
	f := fields{spec}
	if f.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return fields{}, errDate
	}
	return f, nil
}

// after is the next match later than a time of the clock; false: none in five years.
func (f fields) after(clock time.Time) (time.Time, bool) {
	next := f.Next(clock)
	return next, !next.IsZero()
}

// match says whether a time of the clock, in whole seconds, is one.
func (f fields) match(clock time.Time) bool {
	next, ok := f.after(clock.Add(-time.Second))
	return ok && next.Equal(clock)
}
