package redfish_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is a controller's resources by path.
type tree map[string]string

// healthy is a controller with a PDU of two feeds, one without circuits, a
// chassis of the old kind (Power) and one of the new (EnvironmentMetrics).
func healthy() tree {
	const v1 = "/redfish/v1"
	return tree{
		v1:                                      `{"Id":"RootService","Chassis":{"@odata.id":"/redfish/v1/Chassis"},"PowerEquipment":{"@odata.id":"/redfish/v1/PowerEquipment"}}`,
		v1 + "/PowerEquipment":                  `{"@odata.id":"/redfish/v1/PowerEquipment","Id":"PowerEquipment","RackPDUs":{"@odata.id":"/redfish/v1/PowerEquipment/RackPDUs"}}`,
		v1 + "/PowerEquipment/RackPDUs":         `{"Members":[{"@odata.id":"/redfish/v1/PowerEquipment/RackPDUs/a"},{"@odata.id":"/redfish/v1/PowerEquipment/RackPDUs/b"}]}`,
		v1 + "/PowerEquipment/RackPDUs/a":       `{"Id":"a","Status":{"State":"Enabled","Health":"OK"},"Mains":{"@odata.id":"/redfish/v1/PowerEquipment/RackPDUs/a/Mains"}}`,
		v1 + "/PowerEquipment/RackPDUs/b":       `{"Id":"b","Status":{"State":"Enabled","Health":"Warning"}}`,
		v1 + "/PowerEquipment/RackPDUs/a/Mains": `{"Members":[{"@odata.id":"/redfish/v1/m1"},{"@odata.id":"/redfish/v1/m2"}]}`,
		v1 + "/m1":                              `{"Id":"AC1","PowerState":"On","BreakerState":"Normal"}`,
		v1 + "/m2":                              `{"Id":"AC2","PowerState":"On"}`,
		v1 + "/Chassis":                         `{"Members":[{"@odata.id":"/redfish/v1/Chassis/gpu-01"},{"@odata.id":"/redfish/v1/Chassis/gpu-02"},{"@odata.id":"/redfish/v1/Chassis/gpu-03"}]}`,
		v1 + "/Chassis/gpu-01":                  `{"Id":"gpu-01","PowerState":"On","Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"}}`,
		v1 + "/Chassis/gpu-01/Power":            `{"Id":"Power","PowerControl":[{"MemberId":"0","PowerConsumedWatts":1500},{"MemberId":"1","PowerConsumedWatts":500.5}]}`,
		v1 + "/Chassis/gpu-02":                  `{"Id":"gpu-02","EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/gpu-02/Env"}}`,
		v1 + "/Chassis/gpu-02/Env":              `{"Id":"Env","PowerWatts":{"Reading":1800}}`,
		v1 + "/Chassis/gpu-03":                  `{"Id":"gpu-03"}`,
	}
}

const password = "hunter2"

// start serves a tree over TLS and returns its entry in the site.
func start(t *testing.T, resources tree) site.Redfish {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimSuffix(r.URL.Path, "/")
		if user, pass, ok := r.BasicAuth(); path != "/redfish/v1" && (!ok || user != "reader" || pass != password) {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		body, ok := resources[path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are the point
	srv.StartTLS()
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	r := site.Redfish{
		Name: "bmc", URL: srv.URL, User: "reader", PasswordFile: filepath.Join(dir, "password"), CAFile: filepath.Join(dir, "ca.pem"),
		PDUs: []string{"a", "b"}, Chassis: []string{"gpu-01", "gpu-02"},
	}
	write(t, r.PasswordFile, password+"\n")
	write(t, r.CAFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	return r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := redfish.Read(t.Context(), start(t, healthy()))
	if err != nil {
		t.Fatal(err)
	}
	want := redfish.Reading{
		Controller: "bmc",
		PDUs: []redfish.PDU{
			{ID: "a", State: "Enabled", Health: "OK", Mains: []string{"On", "On"}},
			{ID: "b", State: "Enabled", Health: "Warning"},
		},
		Chassis: []redfish.Chassis{{ID: "gpu-01", State: "On", Watts: 2000.5}, {ID: "gpu-02", Watts: 1800}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a, b := got.PDUs[0], got.PDUs[1]; !a.Energised() || a.Down() || b.Energised() || b.Down() {
		t.Error("a is energised, and it is unknown of b, which reports no circuits")
	}
}

func TestNotEnergised(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(tree){
		"offline": func(r tree) {
			r["/redfish/v1/PowerEquipment/RackPDUs/a"] = `{"Id":"a","Status":{"State":"UnavailableOffline","Health":"OK"}}`
		},
		"critical": func(r tree) {
			r["/redfish/v1/PowerEquipment/RackPDUs/a"] = `{"Id":"a","Status":{"State":"Enabled","Health":"Critical"}}`
		},
		"a part is critical": func(r tree) {
			r["/redfish/v1/PowerEquipment/RackPDUs/a"] = `{"Id":"a","Status":{"State":"Enabled","Health":"OK","HealthRollup":"Critical"},"Mains":{"@odata.id":"/redfish/v1/PowerEquipment/RackPDUs/a/Mains"}}`
		},
		"no status":      func(r tree) { r["/redfish/v1/PowerEquipment/RackPDUs/a"] = `{"Id":"a"}` },
		"one feed off":   func(r tree) { r["/redfish/v1/m2"] = `{"Id":"AC2","PowerState":"Off"}` },
		"tripped":        func(r tree) { r["/redfish/v1/m1"] = `{"Id":"AC1","PowerState":"On","BreakerState":"Tripped"}` },
		"still powering": func(r tree) { r["/redfish/v1/m1"] = `{"Id":"AC1","PowerState":"PoweringOn"}` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			spoil(resources)
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got.PDUs {
				if p.ID == "a" && p.Energised() {
					t.Errorf("%+v is reported as energised", p)
				}
			}
		})
	}
}

// A circuit without a power state was left out, so that the PDU was energised by the others.
func TestACircuitWithoutAPowerStateIsRead(t *testing.T) {
	t.Parallel()
	resources := healthy()
	resources["/redfish/v1/m2"] = `{"Id":"AC2","BreakerState":"Normal"}`
	got, err := redfish.Read(t.Context(), start(t, resources))
	if err != nil {
		t.Fatal(err)
	}
	p := got.PDUs[0]
	if diff := cmp.Diff([]string{"On", ""}, p.Mains); diff != "" || p.Energised() {
		t.Errorf("energised %v: %s", p.Energised(), diff)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, resources tree, r *site.Redfish){
		"no PowerEquipment":       func(_ *testing.T, resources tree, _ *site.Redfish) { resources["/redfish/v1"] = `{"Id":"RootService"}` },
		"not JSON":                func(_ *testing.T, resources tree, _ *site.Redfish) { resources["/redfish/v1/Chassis"] = "<html>" },
		"wrong password":          func(t *testing.T, _ tree, r *site.Redfish) { t.Helper(); write(t, r.PasswordFile, "letmein") },
		"no password file":        func(_ *testing.T, _ tree, r *site.Redfish) { r.PasswordFile += ".gone" },
		"no CA file":              func(_ *testing.T, _ tree, r *site.Redfish) { r.CAFile += ".gone" },
		"CA is not a certificate": func(t *testing.T, _ tree, r *site.Redfish) { t.Helper(); write(t, r.CAFile, "hello") },
		"unknown authority":       func(_ *testing.T, _ tree, r *site.Redfish) { r.CAFile = "" },
		"no listener":             func(_ *testing.T, _ tree, r *site.Redfish) { r.URL = "https://127.0.0.1:1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			r := start(t, resources)
			spoil(t, resources, &r)
			got, err := redfish.Read(t.Context(), r)
			if err == nil {
				t.Fatalf("read %+v", got)
			}
			if !strings.Contains(err.Error(), "controller bmc") || strings.Contains(err.Error(), password) {
				t.Errorf("%v: want the controller named and no password", err)
			}
		})
	}
}

// A resource that cannot be read is not read as off, and leaves the others readable (openbmc/bmcweb issue 98: HTTP 500 of one system).
func TestAResourceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const v1 = "/redfish/v1"
	for name, tt := range map[string]struct {
		spoil func(resources tree, r *site.Redfish)
		want  string // "" without one
	}{
		"none":              {func(tree, *site.Redfish) {}, ""},
		"a PDU is gone":     {func(r tree, _ *site.Redfish) { delete(r, v1+"/PowerEquipment/RackPDUs/b") }, "PDU b: was not found, and one could not be read: get " + v1 + "/PowerEquipment/RackPDUs/b"},
		"a circuit is gone": {func(r tree, _ *site.Redfish) { delete(r, v1+"/m2") }, "PDU a: mains: get " + v1 + "/m2"},
		"the mains are":     {func(r tree, _ *site.Redfish) { delete(r, v1+"/PowerEquipment/RackPDUs/a/Mains") }, "PDU a: mains: get " + v1 + "/PowerEquipment/RackPDUs/a/Mains"},
		"a chassis is gone": {func(r tree, _ *site.Redfish) { delete(r, v1+"/Chassis/gpu-02") }, "chassis gpu-02: was not found, and one could not be read: get " + v1 + "/Chassis/gpu-02"},
		"a draw is gone":    {func(r tree, _ *site.Redfish) { delete(r, v1+"/Chassis/gpu-02/Env") }, "chassis gpu-02: get " + v1 + "/Chassis/gpu-02/Env"},
		"no draw":           {func(_ tree, r *site.Redfish) { r.Chassis = append(r.Chassis, "gpu-03") }, "chassis gpu-03: power draw not found"},
		"a system is gone": {func(r tree, _ *site.Redfish) {
			r[v1+"/Chassis/gpu-02"] = `{"Id":"gpu-02","EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/gpu-02/Env"},"Links":{"ComputerSystems":[{"@odata.id":"/redfish/v1/Systems/2"}]}}`
		}, "chassis gpu-02: its systems: get " + v1 + "/Systems/2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			r := start(t, resources)
			tt.spoil(resources, &r)
			got, err := redfish.Read(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.PDUs) != len(r.PDUs) || len(got.Chassis) != len(r.Chassis) || got.Chassis[0] != (redfish.Chassis{ID: "gpu-01", State: "On", Watts: 2000.5}) {
				t.Errorf("%+v", got)
			}
			if unread := got.Unread(); tt.want == "" && unread != nil || tt.want != "" && (unread == nil || !strings.HasPrefix(unread.Error(), tt.want)) {
				t.Errorf("%v, want %q", unread, tt.want)
			}
			for _, p := range got.PDUs {
				if p.Unread != "" && (p.Energised() || p.Down()) {
					t.Errorf("%+v is read", p)
				}
			}
		})
	}
}

// Some controllers report the state of the chassis' standby power, or always On (OpenBMC, bmcweb #12 and #27): a host
// that was off was read as on.
func TestAChassisIsNotOnWithoutItsSystems(t *testing.T) {
	t.Parallel()
	const v1 = "/redfish/v1"
	for name, tt := range map[string]struct{ chassis, one, two, want string }{
		"all on":            {`"On"`, `"On"`, `"On"`, "On"},
		"a host is off":     {`"On"`, `"On"`, `"Off"`, "Off"},
		"the first is off":  {`"On"`, `"Off"`, `"On"`, "Off"},
		"a host starts":     {`"On"`, `"PoweringOn"`, `"On"`, "PoweringOn"},
		"none tells":        {`"On"`, `null`, `null`, "On"},
		"the chassis is":    {`"Off"`, `"On"`, `"On"`, "Off"},
		"the chassis stops": {`"PoweringOff"`, `"Off"`, `"On"`, "PoweringOff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources[v1+"/Chassis/gpu-01"] = `{"Id":"gpu-01","PowerState":` + tt.chassis + `,"Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"},
				"Links":{"ComputerSystems":[{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/2"}]}}`
			resources[v1+"/Systems/1"] = `{"@odata.id":"/redfish/v1/Systems/1","Id":"1","PowerState":` + tt.one + `}`
			resources[v1+"/Systems/2"] = `{"@odata.id":"/redfish/v1/Systems/2","Id":"2","PowerState":` + tt.two + `}`
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			if state := got.Chassis[0].State; state != tt.want {
				t.Errorf("state is %q, want %q", state, tt.want)
			}
		})
	}
}

// The draw of a chassis is what its meter shows, once.
func TestDraw(t *testing.T) {
	t.Parallel()
	const v1, links = "/redfish/v1", `"Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"}`
	const metrics = links + `,"EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/gpu-02/Env"}`
	for name, tt := range map[string]struct {
		links, controls string
		want            float64
	}{
		"one control": {links, `{"Name":"System Power Control","PowerConsumedWatts":245.5}`, 245.5},
		// Lenovo XCC (SR650; bb-Ricardo/check_redfish #79): the draws of CPUs and memory are part of the first.
		"with parts":             {links, `{"Name":"Server Power Control","PhysicalContext":"Chassis","PowerConsumedWatts":263},{"Name":"CPU Sub-system Power","PhysicalContext":"CPU","PowerConsumedWatts":155},{"Name":"Memory Sub-system Power","PhysicalContext":"Memory","PowerConsumedWatts":49}`, 263},
		"parts after a control":  {links, `{"PowerConsumedWatts":287.5},{"PhysicalContext":"CPU","PowerConsumedWatts":120}`, 287.5},
		"parts alone":            {links, `{"PhysicalContext":"CPU","PowerConsumedWatts":120},{"PhysicalContext":"GPU","PowerConsumedWatts":900}`, 1020},
		"the chassis is last":    {links, `{"PhysicalContext":"CPU","PowerConsumedWatts":120},{"PhysicalContext":"Chassis","PowerConsumedWatts":410}`, 410},
		"without a context":      {links, `{"PowerConsumedWatts":1500},{"PowerConsumedWatts":500.25}`, 2000.25},
		"a decimal of no binary": {links, `{"PowerConsumedWatts":198.4}`, 198.4},
		// BMCs of NVIDIA systems: the control has no draw (quadsproject/badfish #395), or is missing.
		"null":       {metrics, `{"PowerConsumedWatts":null}`, 1800},
		"not a key":  {metrics, `{"Name":"System Power Control 0","SetPoint":null}`, 1800},
		"no control": {metrics, ``, 1800},
		"zero":       {links, `{"PowerConsumedWatts":0}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources[v1+"/Chassis/gpu-01"] = `{"Id":"gpu-01","PowerState":"On",` + tt.links + `}`
			resources[v1+"/Chassis/gpu-01/Power"] = `{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power","Id":"Power","PowerControl":[` + tt.controls + `]}`
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			if watts := got.Chassis[0].Watts; watts != tt.want || got.Chassis[0].Unmetered {
				t.Errorf("%v W, want %v", watts, tt.want)
			}
		})
	}
}

// A controller without a draw has not measured 0 W: iDRACs answer null while they start.
func TestUnmetered(t *testing.T) {
	t.Parallel()
	const v1 = "/redfish/v1"
	for name, tt := range map[string]struct {
		power, metrics string
		want           bool
	}{
		"no number":            {`{"PowerConsumedWatts":null}`, "", true},
		"no key":               {`{"Name":"System Power Control 0"}`, "", true},
		"nor in the metrics":   {`{"PowerConsumedWatts":null}`, `{"PowerWatts":{"Reading":null}}`, true},
		"nor its key":          {`{"PowerConsumedWatts":null}`, `{"PowerWatts":null}`, true},
		"zero in the metrics":  {`{"PowerConsumedWatts":null}`, `{"PowerWatts":{"Reading":0}}`, false},
		"zero":                 {`{"PowerConsumedWatts":0}`, "", false},
		"zero, then no number": {`{"PowerConsumedWatts":0}`, `{"PowerWatts":{"Reading":null}}`, false},
		"zero of one":          {`{"PowerConsumedWatts":null},{"PowerConsumedWatts":0}`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources[v1+"/Chassis/gpu-01/Power"] = `{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power","PowerControl":[` + tt.power + `]}`
			if tt.metrics != "" {
				resources[v1+"/Chassis/gpu-01"] = `{"Id":"gpu-01","PowerState":"On","Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"},
					"EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Env"}}`
				resources[v1+"/Chassis/gpu-01/Env"] = `{"@odata.id":"/redfish/v1/Chassis/gpu-01/Env",` + tt.metrics[1:]
			}
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Chassis[0]; c.Watts != 0 || c.Unmetered != tt.want {
				t.Errorf("got %+v, want unmetered %v", c, tt.want)
			}
		})
	}
}

// PowerState of a chassis is optional, and controllers omit it if they report it of the
// system inside: a healthy room was always unobserved.
func TestAChassisHasTheStateOfItsSystems(t *testing.T) {
	t.Parallel()
	const v1 = "/redfish/v1"
	for name, tt := range map[string]struct{ one, two, want string }{
		"all on":            {`"On"`, `"On"`, "On"},
		"one off":           {`"On"`, `"Off"`, "Off"},
		"one does not tell": {`"On"`, `null`, "On"},
		"none tells":        {`null`, `null`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources[v1+"/Chassis/gpu-02"] = `{"Id":"gpu-02","EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/gpu-02/Env"},
				"Links":{"ComputerSystems":[{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/2"}]}}`
			resources[v1+"/Systems/1"] = `{"@odata.id":"/redfish/v1/Systems/1","Id":"1","PowerState":` + tt.one + `}`
			resources[v1+"/Systems/2"] = `{"@odata.id":"/redfish/v1/Systems/2","Id":"2","PowerState":` + tt.two + `}`
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			if state := got.Chassis[1].State; state != tt.want {
				t.Errorf("state is %q, want %q", state, tt.want)
			}
		})
	}
}

// Fields that are not read may have any type. A PartLocation that is a list (ASRock Rack, github.com/stmcginnis/gofish/issues/264),
// an OperatingSystem that is a resource (.../364), and thresholds that are texts (.../409) made the chassis unobserved. A draw
// that is a text, as in the last of them, is still refused.
func TestFieldsThatAreNotRead(t *testing.T) {
	t.Parallel()
	const v1 = "/redfish/v1"
	for name, tt := range map[string]struct {
		path, body string
		refused    string
	}{
		"a list of locations": {
			v1 + "/Chassis/gpu-01",
			`{"Id":"gpu-01","PowerState":"On","Location":{"PartLocation":[{"LocationType":"Slot"}]},"Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"}}`, "",
		},
		"an operating system": {
			v1 + "/Systems/1",
			`{"Id":"1","PowerState":"On","OperatingSystem":{"@odata.id":"/redfish/v1/Systems/1/OperatingSystem"}}`, "",
		},
		"thresholds": {
			v1 + "/Chassis/gpu-01/Power",
			`{"PowerControl":[{"MemberId":0,"PowerConsumedWatts":2000.5}],"Voltages":[{"MemberID":1,"UpperThresholdNonCritical":"N/A","ReadingVolts":"11.900"}]}`, "",
		},
		"a draw that is a text": {
			v1 + "/Chassis/gpu-01/Power",
			`{"PowerControl":[{"PowerConsumedWatts":"152"}]}`, "PowerConsumedWatts",
		},
		"a power state that is a number": {v1 + "/Systems/1", `{"Id":"1","PowerState":1}`, "PowerState"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources[v1+"/Chassis/gpu-01"] = `{"Id":"gpu-01","PowerState":"On","Power":{"@odata.id":"/redfish/v1/Chassis/gpu-01/Power"},
				"Links":{"ComputerSystems":[{"@odata.id":"/redfish/v1/Systems/1"}]}}`
			resources[v1+"/Systems/1"] = `{"Id":"1","PowerState":"On"}`
			resources[tt.path] = tt.body
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			if tt.refused != "" {
				if c := got.Chassis[0]; c.State != "" || !strings.Contains(c.Unread, tt.refused) {
					t.Errorf("%+v, want an error of %s", c, tt.refused)
				}
				return
			}
			if c := got.Chassis[0]; c.State != "On" || c.Watts != 2000.5 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// A controller that lists a chassis which it does not have (Intel's Baseboard answers 404, github.com/DMTF/Redfish-Tacklebox/issues/75) was
// unobserved, although the site does not name that chassis.
func TestAChassisThatTheSiteDoesNotName(t *testing.T) {
	t.Parallel()
	resources := healthy()
	delete(resources, "/redfish/v1/Chassis/gpu-03")
	r := start(t, resources)
	got, err := redfish.Read(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Chassis) != 2 {
		t.Errorf("%+v", got.Chassis)
	}
	for _, id := range []string{"gpu-03", "unknown"} { // either may be the one that could not be read
		r.Chassis = []string{"gpu-01", id}
		got, err := redfish.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if unread := fmt.Sprint(got.Unread()); !strings.Contains(unread, id) || !strings.Contains(unread, "/Chassis/gpu-03") {
			t.Errorf("%s: %+v, %s", id, got, unread)
		}
	}
}

// A collection may have several pages.
func TestPagesOfACollection(t *testing.T) {
	t.Parallel()
	resources := healthy()
	resources["/redfish/v1/Chassis"] = `{"Members":[{"@odata.id":"/redfish/v1/Chassis/gpu-01"}],"Members@odata.nextLink":"/redfish/v1/Chassis/page2"}`
	resources["/redfish/v1/Chassis/page2"] = `{"Members":[{"@odata.id":"/redfish/v1/Chassis/gpu-02"}]}`
	got, err := redfish.Read(t.Context(), start(t, resources))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Chassis) != 2 || got.Chassis[1].ID != "gpu-02" {
		t.Errorf("%+v", got.Chassis)
	}
}

// Mains without a power state were unknown, so that the PDU of DMTF's own example (www.dmtf.org/dsp/DSP2056, "Get mains
// circuits") was never energised; its tool shows no state of them either (github.com/DMTF/Redfish-Tacklebox/pull/137).
func TestMainsHaveTheStateOfTheirVoltages(t *testing.T) {
	t.Parallel()
	const example = `"Id":"AC1","Status":{"Health":"OK"},"CircuitType":"Mains","PhaseWiringType":"ThreePhase5Wire","NominalVoltage":"AC200To240V","BreakerState":"Normal"`
	for name, tt := range map[string]struct {
		circuit, want   string
		energised, down bool
	}{
		"three phases": {example + `,"PolyPhaseVoltage":{"Line1ToLine2":{"Reading":202.8},"Line2ToLine3":{"Reading":203.8},"Line3ToLine1":{"Reading":205.3}}`, "On", true, false},
		"one phase":    {example + `,"Voltage":{"DataSourceUri":"/redfish/v1/Chassis/PowerShelf/Sensors/VoltageMains1","Reading":222.8}`, "On", true, false},
		"-48 V":        {`"Id":"DC1","NominalVoltage":"DCNeg48V","Voltage":{"Reading":-48.2}`, "On", true, false},
		"dead":         {example + `,"PolyPhaseVoltage":{"Line1ToLine2":{"Reading":0},"Line2ToLine3":{"Reading":1.4}}`, "no voltage", false, true},
		"a lost phase": {example + `,"PolyPhaseVoltage":{"Line1ToLine2":{"Reading":202.8},"Line2ToLine3":{"Reading":0}}`, "", false, false},
		"no reading":   {example + `,"Voltage":{"Reading":null},"PolyPhaseVoltage":null`, "", false, false},
		"no voltage":   {example, "", false, false},
		"switched off": {example + `,"PowerState":"Off","Voltage":{"Reading":222.8}`, "Off", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resources := healthy()
			resources["/redfish/v1/m2"] = "{" + tt.circuit + "}"
			got, err := redfish.Read(t.Context(), start(t, resources))
			if err != nil {
				t.Fatal(err)
			}
			p := got.PDUs[0]
			if diff := cmp.Diff([]string{"On", tt.want}, p.Mains); diff != "" || p.Energised() != tt.energised || p.Down() != tt.down {
				t.Errorf("energised %v, down %v: %s", p.Energised(), p.Down(), diff)
			}
		})
	}
}
