package inference

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// story is an observation that passes, to be spoilt.
type story struct {
	classes  classes
	room     placement
	servers  []server
	gateway  gateway
	routes   map[string]route
	way      gatewayPath
	requests map[string]requests
	calls    []apilog.Call
}

func aCheck() *Check {
	p := &profile.Profile{}
	p.Node.GPUs.Value = 8
	return New(&site.Site{Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}}}}, p, conformance.Deps{})
}

func is(kind, status, reason string, generation int64) condition {
	return condition{Type: kind, Status: status, Reason: reason, Observed: generation}
}

func goodStory(c *Check) story {
	accepted := conditions{is("Accepted", "True", "Accepted", 1), is("ResolvedRefs", "True", "ResolvedRefs", 1)}
	s := story{
		classes: classes{Served: true, Used: "world", Classes: []class{
			{Name: "broken", Controller: "b/b", Generation: 1, Conditions: conditions{is("Accepted", "Unknown", "Pending", 1)}},
			{Name: "world", Controller: "w/w", Generation: 1, Conditions: accepted},
		}},
		room: placement{Nodes: []string{"gpu-01"}, Usage: map[string]kube.Usage{"gpu-01": {Allocatable: 8}}},
		gateway: gateway{
			Name: "ns/conformance", UID: "u", Class: "world", Generation: 2, Addresses: []string{"127.1.2.3"}, Port: 8080,
			Conditions: conditions{is("Accepted", "True", "Accepted", 2), is("Programmed", "True", "Programmed", 2)},
		},
		routes: map[string]route{
			routeSplit: {Name: "ns/split", UID: "u", Generation: 1, Backends: []string{"model-b", "model-a"}, Controller: "w/w", Conditions: accepted},
			routeEmpty: {Name: "ns/nowhere", UID: "u", Generation: 1, Backends: []string{missingService}, Controller: "w/w", Conditions: conditions{
				is("Accepted", "True", "Accepted", 1), is("ResolvedRefs", "False", "BackendNotFound", 1),
			}},
		},
		way:      gatewayPath{Through: "http://127.1.2.3:8080", Settled: true, Rounds: settleRounds},
		requests: map[string]requests{},
		calls:    []apilog.Call{{Method: "GET", Path: "/", Status: 200, Times: 1}},
	}
	for _, name := range serverNames() {
		s.servers = append(s.servers, server{Pod: "ns/" + name, State: "Running", Ready: true, Serves: served(name), Direct: answer{Status: 200, Model: served(name)}})
	}
	for _, k := range (&trial{Check: c}).kinds() {
		r := requests{Method: "GET", Path: k.path, Headers: k.headers}
		for i := range k.times {
			a := answer{Status: 404}
			switch {
			case k.target == toNowhere:
				a.Status = 500
			case k.target == toHeader || k.target == toWeights && i%4 == 2:
				a = answer{Status: 200, Model: "firstlight-model-b"}
			case k.target == toWeights:
				a = answer{Status: 200, Model: "firstlight-model-a"}
			}
			r.Answers = append(r.Answers, a)
		}
		s.requests[k.target] = r
	}
	return s
}

func (s story) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind, target string, figures any) {
		o, err := check.Observation{ID: kind + "-" + target, Kind: kind, Target: target}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	add(kindClasses, "cluster", s.classes)
	add(kindFree, "cluster", s.room)
	add(kindServers, "cluster", s.servers)
	add(kindGateway, "cluster", s.gateway)
	add(kindRoute, routeSplit, s.routes[routeSplit])
	add(kindRoute, routeEmpty, s.routes[routeEmpty])
	add(kindPath, "ns/conformance", s.way)
	for _, target := range []string{toWeights, toHeader, toNowhere, toNoRoute} {
		add(kindRequests, target, s.requests[target])
	}
	add(apilog.Kind, "cluster", s.calls)
	return out
}

// answers changes those of a kind of request.
func (s story) answers(target string, change func(i int, a *answer)) {
	r := s.requests[target]
	r.Answers = slices.Clone(r.Answers)
	for i := range r.Answers {
		change(i, &r.Answers[i])
	}
	s.requests[target] = r
}

// routeStatus changes a condition of a route.
func (s story) routeStatus(name string, to ...condition) {
	r := s.routes[name]
	r.Conditions = to
	s.routes[name] = r
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fine := is("Accepted", "True", "Accepted", 1)
	for name, tt := range map[string]struct {
		spoil   func(s *story)
		verdict check.Verdict
		says    string
	}{
		"all is right": {func(*story) {}, check.Passed, "split 400 requests 300 to 100; 40 of 40 with OpenAI-Project"},
		"scripts in the servers' place": {func(s *story) { s.room.Scripts, s.room.Why = true, "1 GPU is free" },
			check.Passed, "scripts replaced the model servers (1 GPU is free)"},
		"by a port forward": {func(s *story) {
			s.way.Through, s.way.Tried = "port-forward to pod a/b port 80", []string{"http://10.0.0.1: timeout"}
		}, check.Passed, "split"},

		"no Gateway API":    {func(s *story) { s.classes = classes{} }, check.Failed, "does not serve gatewayclasses"},
		"no class":          {func(s *story) { s.classes = classes{Served: true} }, check.Failed, "no gatewayclasses"},
		"no class accepted": {func(s *story) { s.classes.Classes, s.classes.Used = s.classes.Classes[:1], "" }, check.Failed, "its controller b/b does not accept it: Accepted is Unknown, Pending"},
		"several are accepted": {func(s *story) {
			s.classes.Classes[0], s.classes.Used = s.classes.Classes[1], ""
			s.classes.Classes[0].Name = "amazon-vpc-lattice"
		}, check.Unobserved, "several are accepted: amazon-vpc-lattice, world"},
		"the site's is not found":              {func(s *story) { s.classes.Wanted, s.classes.Used = "eg", "" }, check.Unobserved, "not found: the site's validation.gatewayClass names it"},
		"the site's is not accepted":           {func(s *story) { s.classes.Wanted, s.classes.Used = "broken", "" }, check.Failed, "its controller b/b does not accept it"},
		"a class that is not accepted is used": {func(s *story) { s.classes.Used = "broken" }, check.Failed, "does not accept it"},
		"accepted once":                        {func(s *story) { s.classes.Classes[1].Generation = 2 }, check.Failed, "of generation 1, the object of 2"},

		"a server is not ready":         {func(s *story) { s.servers[0].Ready, s.servers[0].State = false, "Pending: no GPU" }, check.Unobserved, "prove nothing: it is not ready: Pending: no GPU"},
		"a server does not answer":      {func(s *story) { s.servers[1].Direct = answer{Err: "refused"} }, check.Unobserved, "a direct request failed: refused"},
		"a server loads":                {func(s *story) { s.servers[1].Direct = answer{Status: 503} }, check.Unobserved, "a direct request returned 503"},
		"a server is another":           {func(s *story) { s.servers[1].Direct.Model = "firstlight-model-a" }, check.Unobserved, `it serves "firstlight-model-a"`},
		"one server":                    {func(s *story) { s.servers = s.servers[:1] }, check.Unobserved, "was not observed"},
		"three servers":                 {func(s *story) { s.servers = append(s.servers, s.servers[0]) }, check.Unobserved, "3 servers were observed"},
		"servers of the same name":      {func(s *story) { s.servers[1] = s.servers[0] }, check.Unobserved, "was not observed"},
		"not accepted":                  {func(s *story) { s.gateway.Conditions[0].Status = "False" }, check.Failed, "it is not Accepted"},
		"not programmed":                {func(s *story) { s.gateway.Conditions[1] = is("Programmed", "False", "AddressNotAssigned", 2) }, check.Failed, "it is not Programmed: Programmed is False, AddressNotAssigned"},
		"not programmed, and no server": {func(s *story) { s.gateway.Conditions[1].Status, s.servers[0].Ready = "False", false }, check.Failed, "it is not Programmed"},
		"programmed before":             {func(s *story) { s.gateway.Conditions[1].Observed = 1 }, check.Failed, "of generation 1, the object of 2"},
		"nothing said of it":            {func(s *story) { s.gateway.Conditions = nil }, check.Failed, "no condition Accepted"},
		"no address":                    {func(s *story) { s.gateway.Addresses = nil }, check.Failed, "has no address"},
		"of another class":              {func(s *story) { s.gateway.Class = "other" }, check.Unobserved, "it is of class other"},
		"the controller ignores the route": {func(s *story) {
			s.routes[routeSplit] = route{Name: "ns/split", UID: "u", Backends: []string{"model-b", "model-a"}}
		},
			check.Failed, "the class's controller sets no status"},
		"the route is not accepted":  {func(s *story) { s.routeStatus(routeSplit, is("Accepted", "False", "UnsupportedValue", 1)) }, check.Failed, "it is not Accepted"},
		"the route is not resolved":  {func(s *story) { s.routeStatus(routeSplit, fine, is("ResolvedRefs", "False", "BackendNotFound", 1)) }, check.Failed, "its backends are not resolved"},
		"no condition of backends":   {func(s *story) { s.routeStatus(routeSplit, fine) }, check.Failed, "no condition ResolvedRefs"},
		"resolved without a backend": {func(s *story) { s.routeStatus(routeEmpty, fine, is("ResolvedRefs", "True", "ResolvedRefs", 1)) }, check.Failed, "ResolvedRefs is not False"},
		"for another reason":         {func(s *story) { s.routeStatus(routeEmpty, fine, is("ResolvedRefs", "False", "RefNotPermitted", 1)) }, check.Failed, "the reason is not BackendNotFound"},
		"the route leads elsewhere":  {func(s *story) { r := s.routes[routeEmpty]; r.Backends = []string{"model-a"}; s.routes[routeEmpty] = r }, check.Unobserved, "its backends are [model-a]"},
		"no way":                     {func(s *story) { s.way = gatewayPath{Tried: []string{"http://10.0.0.1:8080: timeout"}} }, check.Unobserved, "not reachable from here: http://10.0.0.1:8080: timeout"},

		"all to the first": {func(s *story) { s.answers(toWeights, func(_ int, a *answer) { a.Model = "firstlight-model-a" }) }, check.Failed, "answered 400 of 400 requests, want 256 to 340"},
		"evenly":           {func(s *story) { s.answers(toWeights, func(i int, a *answer) { a.Model = served(serverNames()[i%2]) }) }, check.Failed, "answered 200 of 400"},
		"the other way round": {func(s *story) {
			s.answers(toWeights, func(i int, a *answer) { a.Model = served(serverNames()[min(i%4, 1)]) })
		}, check.Failed, "answered 100 of 400"},
		"one error": {func(s *story) { s.answers(toWeights, func(i int, a *answer) { spoilOne(i, a, answer{Status: 503}) }) }, check.Failed, "1 times 503 from an unidentified server"},
		"another server": {func(s *story) {
			s.answers(toWeights, func(i int, a *answer) { spoilOne(i, a, answer{Status: 200, Model: "x"}) })
		}, check.Failed, "1 times 200 from x"},
		"one without answer": {func(s *story) { s.answers(toWeights, func(i int, a *answer) { spoilOne(i, a, answer{Err: "reset"}) }) }, check.Unobserved, "1 of 400 were not answered: reset"},
		"one too few":        {func(s *story) { s.fewer(toWeights) }, check.Unobserved, "399 were sent, want 400"},
		"none":               {func(s *story) { s.requests[toWeights] = requests{Path: modelsPath} }, check.Unobserved, "0 were sent"},
		"the header once not": {func(s *story) {
			s.answers(toHeader, func(i int, a *answer) { spoilOne(i, a, answer{Status: 200, Model: "firstlight-model-a"}) })
		}, check.Failed, "1 of 40 requests with the header OpenAI-Project went to another backend"},
		"no header was sent":   {func(s *story) { r := s.requests[toHeader]; r.Headers = nil; s.requests[toHeader] = r }, check.Unobserved, "was requested with"},
		"another path":         {func(s *story) { r := s.requests[toNoRoute]; r.Path = nowherePath; s.requests[toNoRoute] = r }, check.Unobserved, "was requested with"},
		"nowhere answers":      {func(s *story) { s.answers(toNowhere, func(i int, a *answer) { spoilOne(i, a, answer{Status: 200}) }) }, check.Failed, "must return a server error (500 or more), but 1 of 40 requests got another answer"},
		"nowhere is not found": {func(s *story) { s.answers(toNowhere, func(_ int, a *answer) { a.Status = 404 }) }, check.Failed, "40 of 40 requests got another answer"},
		"nowhere is silent":    {func(s *story) { s.answers(toNowhere, func(_ int, a *answer) { *a = answer{Err: "reset"} }) }, check.Unobserved, "40 of 40 were not answered"},
		"no route answers":     {func(s *story) { s.answers(toNoRoute, func(i int, a *answer) { spoilOne(i, a, answer{Status: 200}) }) }, check.Failed, "a path without a route must return 404"},
		"no calls":             {func(s *story) { s.calls = nil }, check.Unobserved, "no call to the API server was recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := aCheck()
			s := goodStory(c)
			tt.spoil(&s)
			j := c.Judge(s.observations(t))
			says := slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.says) })
			if j.Verdict != tt.verdict || !says && !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
			if j.Verdict != check.Passed && (len(j.Findings) == 0 || j.Findings[0].Remedy == "") {
				t.Errorf("no finding with a remedy: %+v", j)
			}
		})
	}
}

// spoilOne replaces the eighth of many answers.
func spoilOne(i int, a *answer, by answer) {
	if i == 7 {
		*a = by
	}
}

func (s story) fewer(target string) {
	r := s.requests[target]
	r.Answers = r.Answers[1:]
	s.requests[target] = r
}

func TestEveryPartIsNeeded(t *testing.T) {
	t.Parallel()
	c := aCheck()
	all := goodStory(c).observations(t)
	if j := c.Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("nothing: %s", j.Verdict)
	}
	for i := range all {
		name := all[i].ID
		if j := c.Judge(slices.Delete(slices.Clone(all), i, i+1)); j.Verdict != check.Unobserved {
			t.Errorf("without %s: %s", name, j.Verdict)
		}
		broken := slices.Clone(all)
		broken[i].Err = "refused"
		if j := c.Judge(broken); j.Verdict != check.Unobserved {
			t.Errorf("%s in error: %s", name, j.Verdict)
		}
		if j := c.Judge(append(slices.Clone(all), all[i])); j.Verdict != check.Unobserved {
			t.Errorf("%s twice: %s", name, j.Verdict)
		}
		garbled := slices.Clone(all)
		garbled[i].Figures = []byte(`"nothing of the kind"`)
		if j := c.Judge(garbled); j.Verdict != check.Unobserved {
			t.Errorf("%s garbled: %s", name, j.Verdict)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	c := aCheck()
	if c.Claims() != 2 || len(c.Describe()) == 0 || c.Name() != Name {
		t.Errorf("%d %v", c.Claims(), c.Describe())
	}
	if c.gpus = 1; c.Claims() != 0 {
		t.Errorf("%d of one GPU", c.Claims())
	}
	for name, tt := range map[string]struct {
		free  map[string]int
		stand bool
		nodes []string
	}{
		"two on one":  {map[string]int{"a": 2, "b": 0}, false, []string{"a"}},
		"one on each": {map[string]int{"a": 1, "b": 1}, false, []string{"a", "b"}},
		"one":         {map[string]int{"a": 1}, true, []string{"a", "b"}},
		"none":        {nil, true, []string{"a", "b"}},
	} {
		usage := map[string]kube.Usage{}
		for n, free := range tt.free {
			usage[n] = kube.Usage{Allocatable: free}
		}
		if r := placementOn([]string{"a", "b"}, usage); r.Scripts != tt.stand || !slices.Equal(r.Nodes, tt.nodes) || r.Scripts != (r.Why != "") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
