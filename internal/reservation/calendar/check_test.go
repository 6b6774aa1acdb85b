package calendar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// table is a schedule of entries "name action zone cron window" and margins "from
// counted-from to at-least".
func table(t *testing.T, entries, margins []string) *calendar.Schedule {
	t.Helper()
	var b strings.Builder
	b.WriteString("entries:\n")
	for _, e := range entries {
		f := strings.Fields(e)
		fmt.Fprintf(&b, "  - {name: %s, action: %s, zone: %s, cron: \"%s\", window: %s}\n", f[0], f[1], f[2], strings.Join(f[3:8], " "), f[8])
	}
	b.WriteString("margins:\n")
	for _, m := range margins {
		f := strings.Fields(m)
		fmt.Fprintf(&b, "  - {from: %s, counted-from: %s, to: %s, at-least: %s}\n", f[0], f[1], f[2], f[3])
	}
	return parse(t, b.String())
}

// said lists rule, entries and dates of the problems.
func said(problems []calendar.Problem) string {
	var out []string
	for _, p := range problems {
		text := []string{p.Rule + " " + strings.Join(p.Entries, ",")}
		for i, d := range p.Dates {
			if i == 2 {
				text = append(text, fmt.Sprintf("%d more", len(p.Dates)-i))
				break
			}
			text = append(text, d.String())
		}
		out = append(out, strings.Join(text, "; "))
	}
	return strings.Join(out, "\n")
}

func TestTheExampleHolds(t *testing.T) {
	t.Parallel()
	s := load(t, example)
	for year := 2024; year <= 2032; year++ {
		if p := s.Check(year); len(p) > 0 {
			t.Errorf("%d:\n%s", year, said(p))
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		up    = "up up UTC 0 15 * * * 3h"
		down  = "down down UTC 0 2 * * * 1h"
		night = "night batch UTC 0 4 * * * 6h"
	)
	for _, tt := range []struct {
		name    string
		entries []string
		margins []string
		want    string
	}{
		{"it holds", []string{up, down, night}, []string{"down start night 2h", "down end night 1h", "night end up 5h", "up end down 8h"}, ""},
		{
			"from the start", []string{up, down, night}, []string{"down start night 2h1m"},
			"margin down,night; 2026-01-01 to 2026-12-31 (365 times)",
		},
		{
			"from the end", []string{up, down, night}, []string{"down end night 1h1m"},
			"margin down,night; 2026-01-01 to 2026-12-31 (365 times)",
		},
		{
			"the batch and its window before the morning", []string{up, down, "night batch UTC 0 4 * * * 10h30m"}, []string{"night end up 1h"},
			"margin night,up; 2026-01-01 to 2026-12-31 (365 times)",
		},
		{
			"the drain", []string{up, "down down UTC 0 2 * * * 2h30m", night}, []string{"down end night 0s"},
			"margin down,night; 2026-01-01 to 2026-12-31 (365 times)\nmeet night,up,down; 2026-01-01 to 2026-12-31 (365 times)",
		},
		{
			"the people's day", []string{up, down, night}, []string{"up end down 8h1m"},
			"margin up,down; 2026-01-01 to 2026-12-31 (365 times)",
		},
		// People in Berlin, the batch in UTC: in summer the evening comes an hour
		// earlier, and with it the margin grows; the morning comes an hour earlier too.
		{
			"fine in winter, and in summer the morning comes before the batch is done",
			[]string{"up up Europe/Berlin 0 8 * * * 2h", "down down Europe/Berlin 0 20 * * * 1h", "night batch UTC 0 23 * * * 7h30m"},
			[]string{"night end up 30m", "down end night 2h"},
			"margin night,up; 2026-03-28 to 2026-10-23 (210 times)\n" +
				"meet night,up,down; 2026-03-28 to 2026-10-23 (210 times)",
		},
		{
			"fine in winter, and too close in summer",
			[]string{"up up Europe/Berlin 0 8 * * * 2h", "down down Europe/Berlin 0 20 * * * 1h", "night batch UTC 0 23 * * * 7h"},
			[]string{"night end up 30m"},
			"margin night,up; 2026-03-28 to 2026-10-23 (210 times)",
		},
		{
			"the same without a margin: one ends where the other begins",
			[]string{"up up Europe/Berlin 0 8 * * * 2h", "down down Europe/Berlin 0 20 * * * 1h", "night batch UTC 0 23 * * * 7h"},
			[]string{"night end up 0s"},
			"",
		},
		{
			"fine in summer, and in winter the evening is over too late",
			[]string{"up up America/New_York 0 9 * * * 2h", "down down America/New_York 0 22 * * * 1h", "night batch UTC 30 4 * * * 6h"},
			[]string{"down end night 1h"},
			"margin down,night; 2026-01-01 to 2026-03-07 (66 times); 2026-11-01 to 2026-12-31 (61 times)",
		},
		{
			"two zones that change their clocks on different days",
			[]string{"up up Europe/Berlin 0 8 * * * 2h", "down down Europe/Berlin 0 20 * * * 1h", "night batch America/New_York 0 16 * * * 6h"},
			[]string{"down end night 1h"},
			"margin down,night; 2026-03-08 to 2026-03-28 (21 times); 2026-10-25 to 2026-10-31 (7 times)",
		},
		{
			"on the night of a change alone",
			[]string{"up up Europe/Berlin 0 9 * * * 2h", "down down Europe/Berlin 0 1 * * * 30m", "night batch Europe/Berlin 0 3 * * * 5h"},
			[]string{"down end night 1h30m"},
			"margin down,night; 2026-03-29",
		},
		{
			"on the other: the batch is an hour longer by the clock, and the morning is where it is",
			[]string{"up up Europe/Berlin 0 9 * * * 2h", "down down Europe/Berlin 0 20 * * * 1h", "night batch Europe/Berlin 0 1 * * * 7h"},
			[]string{"night end up 1h"},
			"margin night,up; 2026-03-29",
		},
		{
			"weekdays: Saturday is free, and the batch may continue",
			[]string{"up up UTC 0 8 * * 1-5 2h", "down down UTC 0 20 * * 1-5 1h", "week batch UTC 0 22 * * 1-4 8h", "weekend batch UTC 0 22 * * 5 48h"},
			[]string{"week end up 2h", "weekend end up 10h"},
			"",
		},
		{
			"a batch by day",
			[]string{up, down, night, "noon batch UTC 0 16 24 12 * 1h"}, []string{"down end night 1h"},
			"meet noon,up,down; 2026-12-24",
		},
		{
			"a batch that runs into itself",
			[]string{"long batch UTC 0 4 * * 1,2 25h"}, []string{"long start long 24h"},
			"meet long,long; 2026-01-06; 2026-01-13; 50 more",
		},
		{
			"the next of itself is not itself",
			[]string{"night batch UTC 0 4 * * * 6h"}, []string{"night end night 18h"}, "",
		},
		{
			"and too close to it",
			[]string{"night batch UTC 0 4 * * * 6h"}, []string{"night end night 18h1m"},
			"margin night,night; 2026-01-01 to 2026-12-31 (365 times)",
		},
		{
			"two batches at once",
			[]string{night, "other batch UTC 30 9 * * 0 1h"}, []string{"night end night 1h"},
			"meet other,night; 2026-01-04 to 2026-12-27 (52 times)",
		},
		{
			"an evening that was forgotten at the weekend: people have it on Sunday night",
			[]string{"up up UTC 0 15 * * * 3h", "down down UTC 0 2 * * 2-6 1h", night}, []string{"down end night 1h"},
			"meet night,up,down; 2026-01-04 to 2026-01-05 (2 times); 2026-01-11 to 2026-01-12 (2 times); 50 more",
		},
		{
			"not this year", []string{up, down, night, "leap batch UTC 0 4 29 2 * 1h"}, []string{"leap end up 0s"},
			"not-this-year leap",
		},
		{
			"the clock jumps over it", []string{"night batch Europe/Berlin 30 2 * * * 1h"}, []string{"night end night 20h"},
			"time-jumped-over night; 2026-03-29\ntime-shown-twice night; 2026-10-25",
		},
		{
			"a jump brings two together",
			[]string{"up up Europe/Berlin 0 9 * * * 1h", "down down Europe/Berlin 15 2 * * * 15m", "night batch Europe/Berlin 45 2 * * * 1h"},
			[]string{"down start night 30m"},
			"margin down,night; 2026-03-29\nmeet night,up,down; 2026-03-29\n" +
				"time-jumped-over down; 2026-03-29\ntime-shown-twice down; 2026-10-25\ntime-jumped-over night; 2026-03-29\ntime-shown-twice night; 2026-10-25",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := said(table(t, tt.entries, tt.margins).Check(2026)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAProblemSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	got := parse(t, `zone: UTC
entries:
  - {name: morning-up, action: up, zone: Europe/Berlin, cron: "0 8 * * *", window: 2h}
  - {name: evening-down, action: down, zone: Europe/Berlin, cron: "0 20 * * *", window: 1h}
  - {name: nightly-batch, action: batch, cron: "0 23 * * *", window: 7h30m}
margins:
  - from: nightly-batch
    to: morning-up
    at-least: 30m
`).Check(2026)
	if len(got) != 2 {
		t.Fatal(said(got))
	}
	for i, want := range []string{
		"schedule.yaml:7:5: error: the margin from nightly-batch (the end of its window) to morning-up must be at least 30m: on 2026-03-28, morning-up is 30m before it [margin]",
		"schedule.yaml:5:6: error: nightly-batch runs from 2026-03-28 23:00 to 2026-03-29 06:30 (UTC), " +
			"while people have the reservations: morning-up starts deployments at 2026-03-29 06:00, and evening-down ends them by 2026-03-29 19:00 [meet]",
	} {
		if got[i].String() != want || got[i].Severity != diag.Error || got[i].Remedy == "" {
			t.Errorf("got  %s\nwant %s", got[i], want)
		}
	}
}

func TestNothingIsNoSchedule(t *testing.T) {
	t.Parallel()
	var none calendar.Schedule
	if p := none.Check(2026); len(p) != 1 || p[0].Rule != "empty" {
		t.Errorf("nothing was found to be wrong with nothing: %v", p)
	}
}

func TestReviewSaysWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	r := table(t, []string{"night batch Europe/Berlin 30 2 * * * 1h"}, []string{"night end night 20h"}).Review(2024)
	if r.Entries != 1 || r.Margins != 1 || r.Occurrences != 366 || len(r.Changes) != 2 {
		t.Errorf("got %+v", r)
	}
	if r.Count(diag.Warning) != 2 || r.Count(diag.Error) != 0 {
		t.Errorf("got %s", said(r.Problems))
	}
}
