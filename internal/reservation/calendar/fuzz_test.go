package calendar_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// FuzzParse: nothing makes it panic or hang, and what it takes has times that go
// forward, in their zone.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, example) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, int64(1774746000))
	}
	f.Fuzz(func(t *testing.T, data []byte, seconds int64) {
		s, err := calendar.Parse("f", data)
		if err != nil {
			return
		}
		after := time.Unix(seconds%(1<<33), 0)
		for _, e := range s.Entries() {
			forward(t, s, e.Name, after)
		}
	})
}

// FuzzCron: no expression in no zone makes the times stand still or go back.
func FuzzCron(f *testing.F) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Sao_Paulo"} {
		for _, cron := range []string{"0 0 * * *", "30 2 * * 0", "59 23 31 12 *", "0 */2 29 2 ?", "15 1-3 * MAR,OCT sun"} {
			f.Add(zone, cron, int64(1774746000))
			f.Add(zone, cron, int64(1540000000))
		}
	}
	f.Fuzz(func(t *testing.T, zone, cron string, seconds int64) {
		s, err := calendar.Parse("f", []byte("zone: "+zone+"\nentries: [{name: e, action: batch, window: 1h, cron: '"+cron+"'}]\nmargins: [{from: e, to: e, at-least: 0s}]"))
		if err != nil {
			return
		}
		forward(t, s, "e", time.Unix(seconds%(1<<33), 0))
	})
}

func forward(t *testing.T, s *calendar.Schedule, entry string, after time.Time) {
	t.Helper()
	for range 20 {
		o, err := s.Next(entry, after)
		if err != nil {
			return
		}
		if !o.At.After(after) || o.At.Sub(after) > 6*366*24*time.Hour {
			t.Fatalf("%s after %s is %s", entry, after, o.At)
		}
		// From just before it is found again.
		if again, err := s.Next(entry, o.At.Add(-time.Nanosecond)); err != nil || !again.At.Equal(o.At) {
			t.Fatalf("%s at %s is, from just before, %s, %v", entry, o.At, again.At, err)
		}
		after = o.At
	}
}
