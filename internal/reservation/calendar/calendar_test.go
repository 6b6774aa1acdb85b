package calendar_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

const example = "../../../examples/schedule.yaml"

func load(t *testing.T, path string) *calendar.Schedule {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

// one is a schedule with one entry, a batch of an hour.
func one(t *testing.T, zone, cron string) *calendar.Schedule {
	t.Helper()
	return parse(t, "zone: "+zone+"\nentries:\n  - {name: e, action: batch, cron: \""+cron+"\", window: 1h}\nmargins:\n  - {from: e, to: e, at-least: 0s}\n")
}

func parse(t *testing.T, text string) *calendar.Schedule {
	t.Helper()
	s, err := calendar.Parse("schedule.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, zone, cron, after, want string }{
		{"UTC", "UTC", "0 15 * * *", "2026-03-28T14:59:59Z", "2026-03-28T15:00:00Z 2026-03-29T15:00:00Z"},
		{"later than, not at", "UTC", "0 15 * * *", "2026-03-28T15:00:00Z", "2026-03-29T15:00:00Z"},
		{"a nanosecond before", "UTC", "0 15 * * *", "2026-03-28T14:59:59.999999999Z", "2026-03-28T15:00:00Z"},
		{"weekdays", "UTC", "30 6 * * 1-5", "2026-11-20T07:00:00Z", "2026-11-23T06:30:00Z 2026-11-24T06:30:00Z"},
		{"a leap day", "UTC", "0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},

		{"Berlin, the night of the change to summer", "Europe/Berlin", "0 4 * * *", "2026-03-28T00:00:00Z", "2026-03-28T04:00:00+01:00 2026-03-29T04:00:00+02:00 2026-03-30T04:00:00+02:00"},
		{"Berlin, jumped over", "Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00/jumped 2026-03-30T02:30:00+02:00"},
		{"Berlin, the first moment jumped over", "Europe/Berlin", "0 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00/jumped 2026-03-30T02:00:00+02:00"},
		{"Berlin, right behind the jump", "Europe/Berlin", "0 3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T03:00:00+02:00"},
		{"Berlin, hourly over the jump", "Europe/Berlin", "0 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T03:00:00+02:00 2026-03-29T04:00:00+02:00"},
		{"Berlin, hourly at the half over the jump", "Europe/Berlin", "30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T03:00:00+02:00/jumped 2026-03-29T03:30:00+02:00"},
		{"Berlin, shown twice", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00/twice 2026-10-26T02:30:00+01:00"},
		{"Berlin, from between the two", "Europe/Berlin", "30 2 * * *", "2026-10-25T00:45:00Z", "2026-10-26T02:30:00+01:00"},
		{"Berlin, from the second hour, before it is shown again", "Europe/Berlin", "30 2 * * *", "2026-10-25T01:15:00Z", "2026-10-26T02:30:00+01:00"},
		{"Berlin, behind the hour that comes twice", "Europe/Berlin", "0 3 * * *", "2026-10-25T00:10:00Z", "2026-10-25T03:00:00+01:00 2026-10-26T03:00:00+01:00"},
		{"New York, jumped over", "America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z", "2026-03-08T03:00:00-04:00/jumped 2026-03-09T02:30:00-04:00"},
		{"New York, shown twice", "America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", "2026-11-01T01:30:00-04:00/twice 2026-11-02T01:30:00-05:00"},
		{"New York, by day", "America/New_York", "0 8 * * *", "2026-10-31T13:00:00Z", "2026-11-01T08:00:00-05:00 2026-11-02T08:00:00-05:00"},
		{"Santiago has no midnight", "America/Santiago", "0 0 * * *", "2026-09-05T12:00:00Z", "2026-09-06T01:00:00-03:00/jumped 2026-09-07T00:00:00-03:00"},
		{"and it is on that weekday still", "America/Santiago", "30 0 * * 0", "2026-09-05T12:00:00Z", "2026-09-06T01:00:00-03:00/jumped 2026-09-13T00:30:00-03:00"},
		{"Lord Howe jumps over half an hour", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z", "2026-10-04T02:30:00+11:00/jumped 2026-10-05T02:15:00+11:00"},
		{"and shows half an hour twice", "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T00:00:00Z", "2026-04-05T01:45:00+11:00/twice 2026-04-06T01:45:00+10:30"},
		{"Samoa had no such day", "Pacific/Apia", "0 12 * * *", "2011-12-30T00:00:00Z", "2011-12-31T00:00:00+14:00/jumped 2011-12-31T12:00:00+14:00"},
		{"Kathmandu is three quarters off", "Asia/Kathmandu", "0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00+05:45"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := one(t, tt.zone, tt.cron)
			after := at(t, tt.after)
			var got []string
			for range strings.FieldsSeq(tt.want) {
				o, err := s.Next("e", after)
				if err != nil {
					t.Fatal(err)
				}
				text := o.At.Format(time.RFC3339)
				if o.ClockChange != "" {
					text += "/" + string(o.ClockChange)
				}
				if !o.Until.Equal(o.At.Add(time.Hour)) {
					t.Errorf("%s ends at %s", o.At, o.Until)
				}
				got = append(got, text)
				after = o.At
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

func TestNextOfNothing(t *testing.T) {
	t.Parallel()
	s := load(t, example)
	if _, err := s.Next("noon-up", at(t, "2026-01-01T00:00:00Z")); err == nil || !strings.Contains(err.Error(), `"noon-up"`) {
		t.Errorf("the error is %v", err)
	}
	// 2100 is not a leap year: the next one is more than five years away.
	if o, err := one(t, "UTC", "0 0 29 2 *").Next("e", at(t, "2097-01-01T00:00:00Z")); err == nil {
		t.Errorf("it occurs at %s", o.At)
	}
}

func TestUpcoming(t *testing.T) {
	t.Parallel()
	got, err := load(t, example).Upcoming(at(t, "2026-11-21T03:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, o := range got {
		text = append(text, o.Entry+" "+o.At.Format(time.RFC3339))
	}
	const want = "nightly-batch 2026-11-21T04:00:00Z, morning-up 2026-11-21T15:00:00Z, evening-down 2026-11-22T02:00:00Z"
	if s := strings.Join(text, ", "); s != want {
		t.Errorf("got %s", s)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := parse(t, `
entries:
  - {name: a, action: up, cron: "0 8 * * *", zone: America/New_York, window: 1h}
  - {name: b, action: down, cron: "0 20 * * *", zone: Europe/Berlin, window: 1h}
  - {name: c, action: batch, cron: "0 4 * * *", zone: UTC, window: 1h}
  - {name: d, action: batch, cron: "0 6 * * *", zone: Europe/Berlin, window: 1h}
margins: [{from: a, to: b, at-least: 1h}]
`)
	var got []string
	for _, c := range s.Changes(2026) {
		got = append(got, c.Zone+" "+c.At.Format(time.RFC3339)+" "+c.By.Duration.String())
	}
	const want = "America/New_York 2026-03-08T03:00:00-04:00 1h0m0s, America/New_York 2026-11-01T01:00:00-05:00 -1h0m0s, " +
		"Europe/Berlin 2026-03-29T03:00:00+02:00 1h0m0s, Europe/Berlin 2026-10-25T02:00:00+01:00 -1h0m0s"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
