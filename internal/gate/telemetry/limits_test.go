package telemetry

import (
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Ages, shares of use and waits hold at their limits, and not beyond.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(g *Gate, f *facts)
		verdict check.Verdict
		suspect string
	}{
		"as old as a sample may be": {func(g *Gate, f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Sampled = now().Add(-g.maxAge) })
		}, check.Passed, ""},
		"older than a sample may be": {func(g *Gate, f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Sampled = now().Add(-g.maxAge - time.Millisecond) })
		}, check.Failed, "gpu-01"},
		"one old sample of many": {func(_ *Gate, f *facts) { f.idle.Series[3].Sampled = now().Add(-time.Hour) }, check.Failed, "gpu-01"},
		"as far in the future as it may be": {func(g *Gate, f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Sampled = now().Add(g.maxAge) })
		}, check.Passed, ""},
		"further in the future": {func(g *Gate, f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Sampled = now().Add(g.maxAge + time.Millisecond) })
		}, check.Failed, "gpu-01"},
		"used as much as the profile demands": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util = g.profile.MinUtilUnderLoad.Value
		}, check.Passed, ""},
		"used less than that": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util = g.profile.MinUtilUnderLoad.Value - 0.5
		}, check.Failed, "gpu-01/gpu5"},
		"fully used":              {func(_ *Gate, f *facts) { f.loaded.Series[5].Util = 100 }, check.Passed, ""},
		"more than fully used":    {func(_ *Gate, f *facts) { f.loaded.Series[5].Util = 100.5 }, check.Failed, "gpu-01/gpu5"},
		"used as much before":     {func(_ *Gate, f *facts) { f.idle.Series[5].Util = 99 }, check.Failed, "gpu-01/gpu5"},
		"used more before":        {func(_ *Gate, f *facts) { f.idle.Series[5].Util = 99.5 }, check.Failed, "gpu-01/gpu5"},
		"used a little less":      {func(_ *Gate, f *facts) { f.idle.Series[5].Util = 98.5 }, check.Passed, ""},
		"as late as an alert may": {func(g *Gate, f *facts) { f.alert.WaitedSeconds = g.profile.AlertWithin.Duration().Seconds() }, check.Passed, ""},
		"later than an alert may": {func(g *Gate, f *facts) {
			f.alert.WaitedSeconds = (g.profile.AlertWithin.Duration() + time.Second).Seconds()
			f.alert.NotYetSeconds = (g.profile.AlertWithin.Duration() + time.Millisecond).Seconds()
		}, check.Failed, "receiver on-call"},
		"not there when it had to be, and later": {func(g *Gate, f *facts) {
			f.alert.WaitedSeconds = (g.profile.AlertWithin.Duration() + time.Second).Seconds()
			f.alert.NotYetSeconds = g.profile.AlertWithin.Duration().Seconds()
		}, check.Unobserved, "receiver on-call"},
		"read when the alert ends": {func(g *Gate, f *facts) {
			f.alert.WaitedSeconds, f.alert.Alerts = g.alertLasts().Seconds(), nil
		}, check.Failed, "Alertmanager"},
		"read after the alert has ended": {func(g *Gate, f *facts) {
			f.alert.WaitedSeconds, f.alert.Alerts = (g.alertLasts() + time.Second).Seconds(), nil
		}, check.Unobserved, "receiver on-call"},
		"series had the time to follow": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util, f.load.Since = 3, now().Add(-g.settle())
		}, check.Failed, "gpu-01/gpu5"},
		"series had a little less": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util, f.load.Since = 3, now().Add(time.Millisecond-g.settle())
		}, check.Unobserved, "the load"},
		"series were read when the load ended": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util, f.begun = 3, now().Add(-g.lasts())
		}, check.Failed, "gpu-01/gpu5"},
		"series were read after the load had ended": {func(g *Gate, f *facts) {
			f.loaded.Series[5].Util, f.begun = 3, now().Add(-g.lasts()-time.Millisecond)
		}, check.Unobserved, "the load"},
		"one notification is sent": {func(_ *Gate, f *facts) { f.after.Total["webhook"] = 4 }, check.Passed, ""},
		"none is sent":             {func(_ *Gate, f *facts) { f.after.Total["webhook"] = 3 }, check.Failed, "receiver on-call"},
		"none is sent by the only member": {func(_ *Gate, f *facts) {
			f.after.Total["webhook"], f.before.Members, f.after.Members = 3, 1, 1
		}, check.Failed, "receiver on-call"},
		"one has failed": {func(_ *Gate, f *facts) { f.after.Failed["webhook"] = 2 }, check.Failed, "receiver on-call"},
		"one GPU is held": {func(_ *Gate, f *facts) {
			f.usage.Nodes["gpu-02"] = kube.Usage{Allocatable: 8, Requested: 1}
		}, check.Unobserved, "gpu-02"},
		"no Alertmanager":       {func(_ *Gate, f *facts) { f.alertmanagers.Active = nil }, check.Failed, "Prometheus"},
		"no GPUs are expected":  {func(g *Gate, _ *facts) { g.gpus = 0 }, check.Unobserved, ""},
		"no nodes are expected": {func(g *Gate, _ *facts) { g.nodes = nil }, check.Unobserved, ""},
		"the load was missing":  {func(_ *Gate, f *facts) { f.load = nil }, check.Unobserved, "the load"},
		"no series under load":  {func(_ *Gate, f *facts) { f.loaded.Series = nil }, check.Failed, "Prometheus"},
		"silenced": {func(_ *Gate, f *facts) {
			f.alert.Alerts[0].State, f.alert.Alerts[0].SilencedBy = "suppressed", []string{"s"}
		}, check.Failed, "receiver on-call"},
		"not listed": {func(_ *Gate, f *facts) { f.alert.Alerts = nil }, check.Failed, "Alertmanager"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			tt.change(g, &f)
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != tt.verdict || tt.suspect != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect }) {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

func TestAnAlertThatWasNotSentIsNotLate(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.after.Total["webhook"], f.alert.WaitedSeconds, f.alert.NotYetSeconds = 3, 400, 399
	if j := plan.Judge(g, f.observations(t)); j.Verdict != check.Failed || len(j.Findings) != 1 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

func TestTheLowestUtilisationIsAFigure(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.loaded.Series[5].Util = 97
	j := plan.Judge(g, f.observations(t))
	if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "lowest utilisation under load" && f.Value == 97 }) {
		t.Errorf("%+v", j.Figures)
	}
}

func TestDefectsAreInOrder(t *testing.T) {
	t.Parallel()
	m := map[string]int{}
	for _, key := range []string{"h", "c", "a", "g", "b", "e", "d", "f"} {
		m[key]++
	}
	if keys := sortedKeys(m); !slices.IsSorted(keys) || len(keys) != 8 {
		t.Errorf("%v", keys)
	}
}
