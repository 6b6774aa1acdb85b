package ray

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// client is a client of a fake head, and the gate with a simulated clock.
func client(t *testing.T, h *head, deps Deps) (*Gate, *probe.Client, *testingclock.FakePassiveClock) {
	t.Helper()
	h.t = t
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s, p := raySite(t)
	clock := testingclock.NewFakePassiveClock(readAt)
	with := depsAt(clock)
	with.Killed = deps.Killed
	return New(s, p, with), &probe.Client{Address: strings.TrimPrefix(server.URL, "http://"), HTTP: server.Client()}, clock
}

// Jobs of this run and of killed runs are ended before the usage is read; those of others remain.
func TestEndLeft(t *testing.T) {
	t.Parallel()
	for id, ended := range map[string]bool{
		"firstlight-r1-group-fits": true, "firstlight-r0-group-too-large": true, "firstlight-r2-group-fits": false,
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			h := head{id: id, job: probe.JobRunning, states: []string{probe.Created}, deaf: 1}
			g, c, _ := client(t, &h, Deps{Killed: []string{"r0"}})
			var rec book
			if err := g.endLeft(t.Context(), c, "head", &rec); err != nil || len(rec) != 1 {
				t.Fatal(err, rec)
			}
			f, err := check.Decode[leftFigures](rec[0])
			if err != nil || slices.Contains(f.Ended, id) != ended || (h.job == "") != ended || len(f.Remain) > 0 {
				t.Errorf("%+v, %v, job %q, requests %q", f, err, h.job, h.requests)
			}
		})
	}
}

// A report of the time before a job ended is read again. Without a report, placed groups of others are found.
func TestUsage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		head    head
		seconds float64 // simulated
		want    string  // of the finding
	}{
		"free":                   {head{used: []int{0}}, 0, ""},
		"an old report":          {head{used: []int{16, 16, 0}}, 2, ""},
		"in use":                 {head{used: []int{8}}, 15, "8 of 16 GPUs are in use"},
		"no report, no group":    {head{states: []string{probe.Pending}}, 0, ""},
		"no report, but a group": {head{states: []string{probe.Created}}, 0, `"firstlight-r1-group-fits" has 16 GPUs`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := tt.head
			g, c, clock := client(t, &h, Deps{})
			var rec book
			if err := g.observeUsage(t.Context(), c, "head", &rec); err != nil {
				t.Fatal(err)
			}
			if took := clock.Since(readAt).Seconds(); took != tt.seconds {
				t.Errorf("it took %g s, want %g", took, tt.seconds)
			}
			o := checktest.Observed{T: t, List: rec}
			o.Add(kindLeft, "head", true, leftFigures{})
			var b check.Builder
			g.judgeUsage(&b, o.List)
			j := b.Judgement("")
			if (tt.want == "") != b.Clean() || tt.want != "" && (j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, tt.want)) {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}

// A group that is not placed is a fault only if the head reports that no GPU is in use.
func TestNotPlacedWithoutAReport(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		g, obs := healthy(t)
		for i, o := range obs {
			if o.Kind == kindUsage {
				obs[i].Figures = encoded(t, probe.Usage{Known: known})
			}
		}
		o := checktest.Observed{T: t, List: obs}
		o.Add(kindOthers, "head", !known, []othersFigures{})
		checktest.Judged(t, judgeOf(g)(o.List), check.Passed, "", "")
		fits := kindProof + "@" + targetFits
		left := checktest.With(t, o.List, checktest.Set(fits, `.group.bundles[0].node`, ""), checktest.Set(fits, `.group.bundles[1].node`, ""), checktest.Set(fits, `.group.state`, probe.Pending))
		want, suspect := check.Failed, "placement groups of Ray"
		if !known {
			want, suspect = check.Unobserved, "GPUs of Ray"
		}
		checktest.Judged(t, judgeOf(g)(left), want, suspect, "none of 2 bundles")
	}
}

// A group that is not in a list that is cut is not one that was removed.
func TestATruncatedList(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reply string
		want  string
	}{
		{`"total": 12000, "num_after_truncation": 10000, "num_filtered": 0`, "not complete (the head searched 10000 of 12000)"},
		{`"total": 9000, "num_after_truncation": 9000, "num_filtered": 0`, ""},
	} {
		groups, err := probe.ParseGroups([]byte(`{"result": true, "data": {"result": {` + tt.reply + `, "result": []}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := named(groups, "x"); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.reply, err)
		}
	}
}

// The wait for a report is longer than the interval of Ray's reports.
func TestUsageWithin(t *testing.T) {
	t.Parallel()
	const reports = 5 * time.Second // AUTOSCALER_UPDATE_INTERVAL_S
	if usageWithin <= 2*reports {
		t.Errorf("%s", usageWithin)
	}
}
