package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func running(name string) trial.Seen {
	return trial.Seen{Pod: "ns/" + name, Node: "gpu-01", Phase: "Running", Containers: []trial.Started{{Running: true}}}
}

func own(name string) class { return class{Name: name, Handler: "handler-of-" + name} }

// isolated is a class whose pod has a kernel of its own.
func isolated(name string) tried {
	return tried{
		Class: own(name), Sandbox: running("sandbox"), Plain: running("plain"),
		Inside: &kernel{Version: "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"}, Outside: &kernel{Version: "Linux version 5.15.0", Boot: "b"},
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	with := func(change func(*tried)) []tried {
		one := isolated("gvisor")
		change(&one)
		return []tried{one}
	}
	for name, tt := range map[string]struct {
		classes []class
		tried   []tried
		want    submission.Status
		says    string
	}{
		"a kernel of its own": {[]class{own("gvisor")}, with(func(*tried) {}), submission.Implemented, "under RuntimeClass gvisor"},
		"one boot of two": {[]class{own("kata")}, []tried{{
			Class: own("kata"), Sandbox: running("sandbox"), Plain: running("plain"), Inside: &kernel{Version: "v", Boot: "a"}, Outside: &kernel{Version: "v", Boot: "b"},
		}}, submission.Implemented, "under RuntimeClass kata"},
		"the node's kernel":         {[]class{own("gvisor")}, with(func(s *tried) { s.Inside = s.Outside }), submission.NotImplemented, "on the node's own kernel"},
		"the same version, no boot": {[]class{own("gvisor")}, with(func(s *tried) { s.Inside = &kernel{Version: s.Outside.Version} }), submission.NotImplemented, "on the node's own kernel"},
		"it does not run":           {[]class{own("gvisor")}, with(func(s *tried) { s.Sandbox.Phase = "Pending" }), submission.PartiallyImplemented, "it does not run"},
		"no node takes it": {[]class{own("gvisor")}, with(func(s *tried) {
			s.Sandbox = trial.Seen{Scheduled: trial.Scheduled{Status: "False", Reason: "Unschedulable"}}
		}), submission.PartiallyImplemented, "no node takes it"},
		"it says nothing":             {[]class{own("gvisor")}, with(func(s *tried) { s.Inside, s.Silent = nil, "no log" }), "", "no log"},
		"the one beside says nothing": {[]class{own("gvisor")}, with(func(s *tried) { s.Outside = nil }), "", "the pod beside it"},
		"on two nodes":                {[]class{own("gvisor")}, with(func(s *tried) { s.Plain.Node = "gpu-02" }), "", "two nodes have two kernels anyway"},
		"its image can't be pulled":   {[]class{own("gvisor")}, with(func(s *tried) { s.Sandbox = trial.Seen{Containers: []trial.Started{{Waiting: "ErrImagePull"}}} }), "", "could not be pulled"},
		"not tried":                   {[]class{own("gvisor")}, nil, "", "observed 0 times"},
		"none":                        {nil, nil, submission.NotImplemented, "there is none"},
		"only runc's":                 {[]class{{Name: "safe", Handler: "runc", Shares: true}}, nil, submission.NotImplemented, "all there are share the node's kernel: safe (handler runc)"},
		"the second of two":           {[]class{own("a"), own("gvisor")}, append([]tried{{Class: own("a"), Sandbox: running("x"), Plain: running("y"), Inside: &kernel{Version: "v"}, Outside: &kernel{Version: "v"}}}, isolated("gvisor")), submission.Implemented, "gvisor"},
		"the first of two":            {[]class{own("gvisor"), own("z")}, []tried{isolated("gvisor")}, submission.Implemented, "gvisor"},
		"one is none, one unseen":     {[]class{own("a"), own("z")}, []tried{{Class: own("a"), Sandbox: running("x"), Plain: running("y"), Inside: &kernel{Version: "v"}, Outside: &kernel{Version: "v"}}}, "", "observed 0 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindClasses, "cluster", tt.classes)}
			for _, one := range tt.tried {
				obs = append(obs, observation(t, kindPods, one.Class.Name, one))
			}
			j := (&Check{}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	if j := (&Check{}).Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func observation(t *testing.T, kind, target string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{ID: kind + target, Kind: kind, Target: target}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const boot = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"

func TestParse(t *testing.T) {
	t.Parallel()
	const version = "Linux version 5.15.0-1052 (build@x) #1 SMP"
	whole := func(lines ...string) string {
		return begins + "\n" + strings.Join(lines, "\n") + "\n" + ends + "\n"
	}
	for name, tt := range map[string]struct {
		log  string
		want kernel
		says string
	}{
		"whole":            {whole(version, boot), kernel{version, boot}, ""},
		"without a boot":   {whole(version, "cat: can't open: No such file"), kernel{Version: version}, ""},
		"said twice":       {whole(version, boot, "Linux version 6", strings.Replace(boot, "0", "1", 1)), kernel{version, boot}, ""},
		"no version":       {whole("cat: not found", boot), kernel{}, "does not say which version"},
		"empty":            {"", kernel{}, "not whole"},
		"cut at the end":   {begins + "\n" + version + "\n", kernel{}, "not whole"},
		"cut at the front": {version + "\n" + boot + "\n" + ends + "\n", kernel{}, "not whole"},
		"no end of line":   {strings.TrimSuffix(whole(version), "\n"), kernel{}, "not whole"},
		"nothing in it":    {begins + "\n" + ends + "\n", kernel{}, "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parse([]byte(tt.log))
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) || err == nil && got != tt.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Whatever a log holds, what is read of it says a version, or is an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(begins + "\nLinux version 5\n" + boot + "\n" + ends + "\n"))
	f.Add([]byte(begins + "\n\n" + ends + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		k, err := parse(log)
		if err == nil && (!strings.HasPrefix(k.Version, "Linux version ") || strings.Contains(k.Version, "\n")) {
			t.Errorf("%q is read as %+v", log, k)
		}
	})
}

func TestHandlers(t *testing.T) {
	t.Parallel()
	known, err := sharing()
	if err != nil || len(known) == 0 {
		t.Fatal(known, err)
	}
	for _, h := range known {
		if h.Name == "" || !strings.HasPrefix(h.Source, "https://") {
			t.Errorf("%+v", h)
		}
	}
	var many []class
	for i := range 9 {
		many = append(many, own(fmt.Sprint(i)), class{Name: "runc", Handler: "runc", Shares: true})
	}
	if got := candidates(many); len(got) != mostClasses {
		t.Errorf("%d are tried", len(got))
	}
}
