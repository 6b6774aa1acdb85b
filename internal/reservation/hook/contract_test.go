package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func text(tb testing.TB, v any) string {
	tb.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

func TestWhatIsRightIsRead(t *testing.T) {
	t.Parallel()
	for _, verb := range Verbs() {
		r := asked(verb)
		got, err := ParseRequest([]byte(text(t, r)))
		if err != nil {
			t.Errorf("%s: %v", verb, err)
			continue
		}
		r.Reservation.NightlyIntents = r.Reservation.Nightly() // it is written as it counts
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%s (-asked +read):\n%s", verb, diff)
		}
		resp := answered(verb)
		back, err := ParseResponse([]byte(text(t, resp)), r)
		if err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		if diff := cmp.Diff(resp, back); diff != "" {
			t.Errorf("%s (-answered +read):\n%s", verb, diff)
		}
	}
}

func TestRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Request)
		want   string
	}{
		{"version", func(r *Request) { r.APIVersion = "v2" }, `unsupported apiVersion "v2"`},
		{"verb", func(r *Request) { r.Verb = "destroy" }, `unknown verb "destroy"`},
		{"owner", func(r *Request) { r.Owner = "Team A" }, `owner "Team A"`},
		{"no reservation", func(r *Request) { r.Reservation = nil }, "needs a reservation"},
		{"another cloud", func(r *Request) { r.Cloud = config.GCP }, `the reservation belongs to "aws"`},
		{"name", func(r *Request) { r.Deployment = "../x" }, `deployment name "../x"`},
		{"long name", func(r *Request) { r.Deployment = strings.Repeat("a", 33) }, "at most 32"},
		{"no token", func(r *Request) { r.Lease = Lease{} }, "needs the token of a lease"},
		{"negative token", func(r *Request) { r.Lease.Token = -1 }, "must not be negative"},
		{"no intent", func(r *Request) { r.Intent = "" }, "needs an intent"},
		{"attempt", func(r *Request) { r.Attempt = 0 }, "must be at least 1"},
		{"deadline", func(r *Request) { r.Deadline = time.Time{} }, "deadline is missing"},
		{"a version", func(r *Request) { r.Version = "main" }, "provision must not have a version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := asked(Provision)
			tt.change(&r)
			if _, err := ParseRequest([]byte(text(t, r))); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	r := asked(Test)
	for version, right := range map[string]bool{
		"main": true, "v0.0.0": true, "v1.20.300": true,
		"": false, "1.2.3": false, "v1.2": false, "v1.2.3-rc.1": false, "v1.2.3+x": false, "v01.2.3": false, "v1.2.3.4": false,
		"main ": false, "v1.2.3\n": false, "../main": false, "v1.2.9999999999": false, "master": false,
	} {
		r.Version = version
		if _, err := ParseRequest([]byte(text(t, r))); (err == nil) != right || err != nil && !strings.Contains(err.Error(), "must be main or vX.Y.Z") {
			t.Errorf("version %q: %v", version, err)
		}
	}
	r = asked(Test)
	r.Intent, r.Lease = "", Lease{}
	_, err := ParseRequest([]byte(text(t, r)))
	for _, want := range []string{"test needs an intent", "test needs the token of a lease"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestResponsesThatAreWrong(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	change := func(f func(*Deployment)) func(*Response) { return func(r *Response) { f(r.Deployment) } }
	result := func(f func(*Result)) func(*Response) { return func(r *Response) { f(r.Result) } }
	for _, tt := range []struct {
		name   string
		verb   Verb
		change func(*Response)
		want   string
	}{
		{"version", Teardown, func(r *Response) { r.APIVersion = "" }, "apiVersion"},
		{"nothing answered", Provision, func(r *Response) { r.Deployment = nil }, `must have "deployment"`},
		{"not gone", Teardown, func(r *Response) { r.Deleted = false }, `must have "deleted"`},
		{"no nodes", GetNodes, func(r *Response) { r.Nodes = nil }, `must have "nodes"`},
		{"no deployments", Discover, func(r *Response) { r.Deployments = nil }, `must have "deployments"`},
		{"another verb's", Discover, func(r *Response) { r.Deleted = true }, `"deleted" is not a response to discover`},
		{"another deployment", Provision, change(func(d *Deployment) { d.Name = "other" }), `has deployment "other"`},
		{"another's", Provision, change(func(d *Deployment) { d.Owner = "team-b" }), `owner label "team-b"`},
		{"another reservation", Provision, change(func(d *Deployment) { d.Reservation = "b" }), `reservation label "b"`},
		{"another intent", Provision, change(func(d *Deployment) { d.Intent = config.Inference }), "intent"},
		{"an older token", Provision, change(func(d *Deployment) { d.Token-- }), "has token label"},
		{"no age", Provision, change(func(d *Deployment) { d.Created = time.Time{} }), "no label of its creation time"},
		{"no access", Provision, change(func(d *Deployment) { d.Access = nil }), "access is missing"},
		{"a key", Provision, change(func(d *Deployment) { d.Access.CA = key }), "no private key"},
		{"a password in the URL", Provision, change(func(d *Deployment) { d.Access.Server = "https://a:b@c" }), "must be an https URL"},
		{"no plugin", Provision, change(func(d *Deployment) { d.Access.Exec.Command = "" }), "exec.command is missing"},
		{"a node without identity", GetNodes, func(r *Response) { (*r.Nodes)[0].UID = "" }, "name or uid is missing"},
		{"a node twice", GetNodes, func(r *Response) { *r.Nodes = append(*r.Nodes, (*r.Nodes)[0]) }, "duplicate node"},
		{"negative GPUs", GetNodes, func(r *Response) { (*r.Nodes)[0].GPUs = -1 }, "-1 GPUs"},
		{"a deployment twice", Discover, func(r *Response) { *r.Deployments = append(*r.Deployments, provisioned()) }, "duplicate deployment"},
		{"no result", Test, func(r *Response) { r.Result = nil }, `must have "result"`},
		{"a result of no test", Teardown, func(r *Response) { r.Result = &Result{Verdict: Passed, Checks: 1} }, `"result" is not a response to teardown`},
		{"no verdict", Test, result(func(r *Result) { r.Verdict = "" }), `unknown verdict ""`},
		{"another verdict", Test, result(func(r *Result) { r.Verdict = "skipped" }), `unknown verdict "skipped"`},
		{"a pass of nothing", Test, result(func(r *Result) { r.Checks = 0 }), "a pass has at least one"},
		{"a pass with a why", Test, result(func(r *Result) { r.Reason = "two pods are pending" }), "passed with a reason"},
		{"failed, without a reason", Test, result(func(r *Result) { r.Verdict, r.Reason = Failed, " \n" }), "failed without a reason"},
		{"unobserved, without a reason", Test, result(func(r *Result) { r.Verdict = Unobserved }), "unobserved without a reason"},
		{"negative checks", Test, result(func(r *Result) { *r = Result{Verdict: Failed, Checks: -1, Reason: "x"} }), "-1 checks"},
		{"much evidence", Test, result(func(r *Result) { r.Evidence = strings.Repeat("x", MaxEvidence+1) }), "evidence has 1025 bytes"},
		{"evidence of two lines", Test, result(func(r *Result) { r.Evidence = "a\nb" }), "must be one line"},
		{"a password in the evidence", Test, result(func(r *Result) { r.Evidence = "https://a:b@example.com/run" }), "a URL with a user"},
		{"much of why", Test, result(func(r *Result) { *r = Result{Verdict: Failed, Reason: strings.Repeat("x", MaxReason+1)} }), "reason has 2049 bytes"},
		{"a terminal's why", Test, result(func(r *Result) { *r = Result{Verdict: Failed, Reason: "\x1b[2J"} }), "reason has control characters"},
		{"another reservation's", Discover, func(r *Response) { (*r.Deployments)[0].Reservation = "b" }, `belongs to "b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := answered(tt.verb)
			tt.change(&r)
			if _, err := ParseResponse([]byte(text(t, r)), asked(tt.verb)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestResponsesAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "empty"},
		{"no JSON", "done", "invalid character"},
		{"two", `{"apiVersion":"hooks.firstlight.dev/v1","deleted":true}{}`, "after top-level value"},
		{"unknown keys, all of them", `{"apiVersion":"hooks.firstlight.dev/v1","deleted":true,"a":1,"b":2}`, `unknown field "b"`},
		{"another case", `{"apiVersion":"hooks.firstlight.dev/v1","Deleted":true}`, `unknown field "Deleted"`},
		{"twice", `{"apiVersion":"hooks.firstlight.dev/v1","deleted":true,"deleted":false}`, `duplicate field "deleted"`},
		{"a credential", `{"apiVersion":"hooks.firstlight.dev/v1","deployment":{"name":"x","access":{"token":"abc"}}}`, `unknown field "deployment.access.token"`},
		{"too large", `"` + strings.Repeat("x", MaxSize) + `"`, "larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseResponse([]byte(tt.text), asked(Teardown)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestKubeconfigHoldsNoCredential(t *testing.T) {
	t.Parallel()
	data, err := provisioned().Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	user := c.AuthInfos[c.Contexts[c.CurrentContext].AuthInfo]
	if user.Exec == nil || user.Exec.Command != "aws" || user.Token+user.Password+string(user.ClientKeyData) != "" {
		t.Errorf("the user is %+v", user)
	}
	d := provisioned()
	d.Access = nil
	if _, err := d.Kubeconfig(); err == nil {
		t.Error("a kubeconfig of an unreachable deployment")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	a, b := NameOf("day", "ah1", token), NameOf("day", "ah1", token+1)
	if a == b || CheckName(a) != nil || CheckName(b) != nil {
		t.Errorf("names %s and %s: %v", a, b, CheckName(a))
	}
}

func FuzzParse(f *testing.F) {
	for _, verb := range Verbs() {
		f.Add(text(f, asked(verb)), text(f, answered(verb)))
	}
	asksTest := text(f, asked(Test))
	f.Add(asksTest, `{"apiVersion":"hooks.firstlight.dev/v1","result":{"verdict":"failed","checks":2,"why":"0/2 nodes are available\n\tof 2"}}`)
	f.Add(asksTest, `{"apiVersion":"hooks.firstlight.dev/v1","result":{"verdict":"unobserved","checks":0,"evidence":"file:///x","why":"there are no nodes"}}`)
	f.Add(asksTest, `{"apiVersion":"hooks.firstlight.dev/v1","result":{"verdict":"passed","checks":0,"evidence":"https://a:b@c"}}`)
	f.Add(strings.Replace(asksTest, "v1.2.0", "v1.2.0-rc.1", 1), `{"apiVersion":"hooks.firstlight.dev/v1","result":null}`)
	f.Add(`{"deployments":[null]}`, `{"nodes":[null],"deployments":[{}]}`)
	f.Fuzz(func(t *testing.T, request, response string) {
		r, err := ParseRequest([]byte(request))
		if err != nil {
			r = asked(Discover)
		} else if again, err := ParseRequest([]byte(text(t, r))); err != nil {
			t.Errorf("the parsed request is invalid: %v", err)
		} else if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
		if resp, err := ParseResponse([]byte(response), r); err == nil {
			if _, err := ParseResponse([]byte(text(t, resp)), r); err != nil {
				t.Errorf("the parsed response is invalid: %v", err)
			}
		}
	})
}

// A trimmed reason is a valid reason of a result.
func TestTrimmedReasonIsValid(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"a\x1b[2Jb\r", "a\xff", strings.Repeat("ä", MaxReason)} {
		r := answered(Test)
		r.Result = &Result{Verdict: Failed, Reason: lease.TrimReason(reason)}
		if _, err := ParseResponse([]byte(text(t, r)), asked(Test)); err != nil {
			t.Errorf("%q: %v", reason, err)
		}
	}
}
