package calendar

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Cron expressions are parsed and matched by robfig/cron v3.0.1, the library of Kubernetes
// CronJobs, on dates without a zone only. At changes of the clock no library does what it
// documents (tried in November 2026): robfig/cron v3.0.1 omits skipped times, as documented, and
// runs repeated times twice; netresearch/go-cron v0.9.1 also runs them twice, although it
// documents "first occurrence", and omits the whole day where midnight is skipped
// (America/Santiago); adhocore/gronx v1.20.4 omits skipped times and uses the first of two hours
// in America/New_York and the second in Europe/Berlin. zone.go decides about skipped and repeated
// times, for every zone alike.

// fields is a cron expression; it matches times of the clock, in UTC.
type fields struct{ cron.Schedule }

const maxCron = 120

var (
	errTooOften = errors.New("must not occur more than once an hour")
	errDate     = errors.New("the date does not exist")
)

func parseCron(text string) (fields, error) {
	switch {
	case len(text) > maxCron:
		return fields{}, fmt.Errorf("must have at most %d characters", maxCron)
	case strings.Contains(text, "=") || strings.HasPrefix(strings.TrimSpace(text), "@"):
		return fields{}, errors.New("must have five fields: minute, hour, day of the month, month, day of the week")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return fields{}, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return fields{}, fmt.Errorf("parsed as %T, not as five fields", parsed)
	}
	spec.Location = time.UTC
	const minutes = 1<<60 - 1 // the higher bits mark a star
	if bits.OnesCount64(spec.Minute&minutes) > 1 {
		return fields{}, errTooOften
	}
	f := fields{spec}
	if f.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return fields{}, errDate
	}
	return f, nil
}

// after returns the next match later than a time of the clock; false: none in five years.
func (f fields) after(clock time.Time) (time.Time, bool) {
	next := f.Next(clock)
	return next, !next.IsZero()
}

// match reports whether a time of the clock, in whole seconds, matches.
func (f fields) match(clock time.Time) bool {
	next, ok := f.after(clock.Add(-time.Second))
	return ok && next.Equal(clock)
}
