package recommended

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func sandboxedPod(name string) testpod.Status {
	return testpod.Status{Pod: "ns/" + name, Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}}}
}

func classOf(name string) runtimeClass {
	return runtimeClass{Name: name, Handler: "handler-of-" + name}
}

// isolated is a class whose pod has a kernel of its own.
func isolated(name string) sandboxPods {
	return sandboxPods{
		Class: classOf(name), Sandbox: sandboxedPod("sandbox"), Plain: sandboxedPod("plain"),
		Inside: &kernel{Version: "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"}, Outside: &kernel{Version: "Linux version 5.15.0", Boot: "b"},
	}
}

func TestJudgeSandbox(t *testing.T) {
	t.Parallel()
	with := func(change func(*sandboxPods)) []sandboxPods {
		one := isolated("gvisor")
		change(&one)
		return []sandboxPods{one}
	}
	for name, tt := range map[string]struct {
		classes []runtimeClass
		tried   []sandboxPods
		want    submission.Status
		says    string
	}{
		"a kernel of its own": {[]runtimeClass{classOf("gvisor")}, with(func(*sandboxPods) {}), submission.Implemented, "with RuntimeClass gvisor"},
		"one boot of two": {[]runtimeClass{classOf("kata")}, []sandboxPods{{
			Class: classOf("kata"), Sandbox: sandboxedPod("sandbox"), Plain: sandboxedPod("plain"), Inside: &kernel{Version: "v", Boot: "a"}, Outside: &kernel{Version: "v", Boot: "b"},
		}}, submission.Implemented, "with RuntimeClass kata"},
		"the node's kernel":             {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Inside = s.Outside }), submission.NotImplemented, "on the node's own kernel"},
		"the same version, no bootLine": {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Inside = &kernel{Version: s.Outside.Version} }), submission.NotImplemented, "on the node's own kernel"},
		"does not run":                  {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Sandbox.Phase = "Pending" }), submission.PartiallyImplemented, "does not run"},
		"no node takes it": {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) {
			s.Sandbox = testpod.Status{Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable"}}
		}), submission.PartiallyImplemented, "no node takes it"},
		"it says nothing":         {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Inside, s.LogError = nil, "no log" }), "", "no log"},
		"no log of the plain pod": {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Outside = nil }), "", "the plain pod"},
		"on two nodes":            {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) { s.Plain.Node = "gpu-02" }), "", "two nodes have two kernels anyway"},
		"its image cannot be pulled": {[]runtimeClass{classOf("gvisor")}, with(func(s *sandboxPods) {
			s.Sandbox = testpod.Status{Containers: []testpod.ContainerStatus{{Waiting: "ErrImagePull"}}}
		}), "", "cannot pull"},
		"not tried":                        {[]runtimeClass{classOf("gvisor")}, nil, "", "was not observed"},
		"none":                             {nil, nil, submission.NotImplemented, "RuntimeClass: not found"},
		"only runc's":                      {[]runtimeClass{{Name: "safe", Handler: "runc", Shares: true}}, nil, submission.NotImplemented, "all of them share the node's kernel: safe (handler runc)"},
		"the second of two":                {[]runtimeClass{classOf("a"), classOf("gvisor")}, append([]sandboxPods{{Class: classOf("a"), Sandbox: sandboxedPod("x"), Plain: sandboxedPod("y"), Inside: &kernel{Version: "v"}, Outside: &kernel{Version: "v"}}}, isolated("gvisor")), submission.Implemented, "gvisor"},
		"the first of two":                 {[]runtimeClass{classOf("gvisor"), classOf("z")}, []sandboxPods{isolated("gvisor")}, submission.Implemented, "gvisor"},
		"one not isolated, one unobserved": {[]runtimeClass{classOf("a"), classOf("z")}, []sandboxPods{{Class: classOf("a"), Sandbox: sandboxedPod("x"), Plain: sandboxedPod("y"), Inside: &kernel{Version: "v"}, Outside: &kernel{Version: "v"}}}, "", "was not observed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observationOf(t, kindClasses, "cluster", tt.classes)}
			for _, one := range tt.tried {
				obs = append(obs, observationOf(t, kindSandboxed, one.Class.Name, one))
			}
			j := (&Sandbox{}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	if j := (&Sandbox{}).Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func observationOf(t *testing.T, kind, target string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{ID: kind + target, Kind: kind, Target: target}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const bootLine = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"

func TestParseKernel(t *testing.T) {
	t.Parallel()
	const version = "Linux version 5.15.0-1052 (build@x) #1 SMP"
	whole := func(lines ...string) string {
		return kernelBegin + "\n" + strings.Join(lines, "\n") + "\n" + kernelEnd + "\n"
	}
	for name, tt := range map[string]struct {
		log  string
		want kernel
		says string
	}{
		"whole":              {whole(version, bootLine), kernel{version, bootLine}, ""},
		"without a bootLine": {whole(version, "cat: can't open: No such file"), kernel{Version: version}, ""},
		"said twice":         {whole(version, bootLine, "Linux version 6", strings.Replace(bootLine, "0", "1", 1)), kernel{version, bootLine}, ""},
		"no version":         {whole("cat: not found", bootLine), kernel{}, "no line with the version"},
		"empty":              {"", kernel{}, "truncated log"},
		"cut at the end":     {kernelBegin + "\n" + version + "\n", kernel{}, "truncated log"},
		"cut at the front":   {version + "\n" + bootLine + "\n" + kernelEnd + "\n", kernel{}, "truncated log"},
		"no end of line":     {strings.TrimSuffix(whole(version), "\n"), kernel{}, "truncated log"},
		"nothing in it":      {kernelBegin + "\n" + kernelEnd + "\n", kernel{}, "truncated log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseKernel([]byte(tt.log))
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) || err == nil && got != tt.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// For any log, the result has a version or is an error.
func FuzzParseKernel(f *testing.F) {
	f.Add([]byte(kernelBegin + "\nLinux version 5\n" + bootLine + "\n" + kernelEnd + "\n"))
	f.Add([]byte(kernelBegin + "\n\n" + kernelEnd + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		k, err := parseKernel(log)
		if err == nil && (!strings.HasPrefix(k.Version, "Linux version ") || strings.Contains(k.Version, "\n")) {
			t.Errorf("%q is read as %+v", log, k)
		}
	})
}

func TestHandlers(t *testing.T) {
	t.Parallel()
	known, err := sharedKernelHandlers()
	if err != nil || len(known) == 0 {
		t.Fatal(known, err)
	}
	for _, h := range known {
		if h.Name == "" || !strings.HasPrefix(h.Source, "https://") {
			t.Errorf("%+v", h)
		}
	}
	var many []runtimeClass
	for i := range 9 {
		many = append(many, classOf(fmt.Sprint(i)), runtimeClass{Name: "runc", Handler: "runc", Shares: true})
	}
	if got := candidates(many); len(got) != maxClasses {
		t.Errorf("%d are tried", len(got))
	}
}
