package nvidia_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// A log follows an earlier one without a gap if it begins before the end of that.
func TestFollows(t *testing.T) {
	t.Parallel()
	const from, old, late = "[    0.000000] Linux version 6.8\n", "[  100.000000] usb: a\n[  200.000000] usb: b\n", "[  150.000000] usb: c\n[  300.000000] usb: d\n"
	for name, tt := range map[string]struct {
		was, is string
		want    nvidia.Continuity
	}{
		"from the boot":           {from + old, from + old + late, nvidia.FromNewBoot},
		"the same":                {old, old, nvidia.Overlapping},
		"wrapped, overlapping":    {from + old, late, nvidia.Overlapping},
		"only the last line left": {old, "[  200.000000] usb: b\n", nvidia.Overlapping},
		"a gap":                   {old, "[  200.000001] usb: e\n", nvidia.Gap},
		"booted since, wrapped":   {late, old, nvidia.UnknownContinuity},
		"dates":                   {old, "2026-01-25T10:34:54,859532+00:00 usb: f\n", nvidia.UnknownContinuity},
	} {
		was, errWas := nvidia.ParseXids([]byte(tt.was))
		is, errIs := nvidia.ParseXids([]byte(tt.is))
		if got := is.Follows(was); got != tt.want || errWas != nil || errIs != nil {
			t.Errorf("%s: %s, want %s (%v, %v)", name, got, tt.want, errWas, errIs)
		}
	}
}

// Errors that the ring buffer has dropped since stay; those of an earlier boot do not.
func TestSince(t *testing.T) {
	t.Parallel()
	gpu := nvidia.XidEvent{Kind: nvidia.KindXid, Code: 79, PCI: "0000:1b:00"}
	again := gpu
	again.Count = 3
	unclear := nvidia.XidEvent{Kind: nvidia.KindSXid, Code: 20034, Device: "nvswitch0", Unclassified: true}
	fatal := unclear
	fatal.Unclassified, fatal.Fatal = false, true
	was := nvidia.XidLog{Last: "200.0", Events: []nvidia.XidEvent{gpu, unclear}}
	for name, tt := range map[string]struct {
		is   nvidia.XidLog
		want []nvidia.XidEvent
	}{
		"dropped":           {nvidia.XidLog{First: "150.0", Last: "300.0"}, []nvidia.XidEvent{gpu, unclear}},
		"dropped, in a gap": {nvidia.XidLog{First: "250.0", Last: "300.0"}, []nvidia.XidEvent{gpu, unclear}},
		"again, classified": {nvidia.XidLog{First: "150.0", Last: "300.0", Events: []nvidia.XidEvent{again, fatal}}, []nvidia.XidEvent{again, fatal}},
		"booted since":      {nvidia.XidLog{First: "0.0", Last: "20.0", FromBoot: true}, nil},
		"an earlier time":   {nvidia.XidLog{First: "10.0", Last: "20.0"}, nil},
	} {
		if diff := cmp.Diff(tt.want, tt.is.Since(was).Events); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
