package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseScale(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"": defaultScale, "10": {10}, "10,100,1000": {10, 100, 1000},
		"0": nil, "-1": nil, "10,": nil, "10 100": nil, "100,10": nil, "10,10": nil, "many": nil,
	} {
		got, err := parseScale(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestGateTook(t *testing.T) {
	t.Parallel()
	for report, want := range map[string]struct {
		took float64
		err  string
	}{
		`{"gates":[{"gate":"node","verdict":"passed","duration":1.5}]}`: {1.5, ""},
		`{"gates":[{"gate":"node","verdict":"failed","duration":1.5}]}`: {0, `verdict "failed"`},
		`{"gates":[{"gate":"node","verdict":"passed"}]}`:                {0, "after 0 s"},
		`{"gates":[{"gate":"fabric","verdict":"passed","duration":1}]}`: {0, "not in the report"},
		`{"gates":[]}`: {0, "not in the report"},
		`{`:            {0, "read the report"},
	} {
		took, err := gateTook([]byte(report), "node")
		if took != want.took || (err == nil) != (want.err == "") || err != nil && !strings.Contains(err.Error(), want.err) {
			t.Errorf("%s: %g, %v", report, took, err)
		}
	}
}

func TestParseUsage(t *testing.T) {
	t.Parallel()
	// Of a process on Linux 6.8, with another name.
	const stat = "1234 (a (b) c) S 1 1234 1234 0 -1 4194560 1580 0 5 0 250 50 0 0 20 0 9 0 1104 1267531776 3241 18446744073709551615 1 1 0 0 0 0 0 0 2143420159 0 0 0 17 1 0 0 0 0 0\n"
	u, err := parseUsage(stat, "Name:\tkube-apiserver\nVmPeak:\t 1237824 kB\nVmHWM:\t   12964 kB\nVmRSS:\t   12964 kB\n")
	if err != nil || u.cpu != 3 || u.memory != 12964*1024 {
		t.Errorf("%+v, %v", u, err)
	}
	for _, bad := range [][2]string{{"1 (a) S 1", ""}, {"", ""}, {strings.Replace(stat, " 250 ", " x ", 1), ""}, {stat, "VmHWM:\t many kB\n"}} {
		if u, err := parseUsage(bad[0], bad[1]); err == nil {
			t.Errorf("%q: %+v", bad, u)
		}
	}
}

// The processes of the lab bench-scale-100 counted as those of bench-scale-10.
func TestProcessesIn(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{os.Args[0], filepath.Dir(os.Args[0])} {
		if _, err := processesIn(dir); err != nil {
			t.Error(err)
		}
	}
	if u, err := processesIn(os.Args[0][:len(os.Args[0])-1]); err == nil {
		t.Errorf("of a directory whose name is the beginning of another: %+v", u)
	}
	u, err := processesIn(os.Args[0])
	if err != nil || u.memory < 1<<20 {
		t.Errorf("of this process: %+v, %v", u, err)
	}
	if u, err := processesIn("/no such directory of a process"); err == nil {
		t.Errorf("of no process: %+v", u)
	}
}
