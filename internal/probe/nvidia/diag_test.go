package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const four = `{"DCGM Diagnostic":{"test_categories":[
 {"category":"Deployment","tests":[{"name":"software","results":[
   {"entity_group":"GPU","entity_group_id":1,"entity_id":0,"status":"Pass"},
   {"entity_group":"GPU","entity_group_id":1,"entity_id":1,"status":"Pass"}],"test_summary":{"status":"Pass"}}]},
 {"category":"Stress","tests":[{"name":"memory_bandwidth","results":[
   {"entity_group":"GPU","entity_group_id":1,"entity_id":0,"status":"Skip"},
   {"entity_group":"GPU","entity_group_id":1,"entity_id":1,"status":"Fail",
    "warnings":[{"error_category":1,"error_id":62,"error_severity":4,"warning":"Detected 2.1 membw"}]}],"test_summary":{"status":"Fail"}}]}]},
 "entity_groups":[{"entity_group":"GPU","entity_group_id":1,"entities":[
   {"entity_id":0,"device_id":"2330","serial_num":"111"},{"entity_id":1,"device_id":"2330","serial_num":"222"}]}],
 "metadata":{"DCGM Version":"4.2.3","Driver Version Detected":"580.105.08"}}`

const three = `WARNING: this host has no NTP
{"DCGM GPU Diagnostic":{"version":"3.3.5","Driver Version Detected":"535.129.03","GPU Device Serials":{"0":"111","1":222},
 "test_categories":[
 {"category":"Deployment","tests":[{"name":"Blacklist","results":[{"status":"PASS"}]},null,{"name":"Persistence Mode","results":[{"status":"Warn","warnings":"Persistence mode for GPU 0 is disabled."}]}]},
 {"category":"Integration","tests":[{"name":"PCIe","results":[{"gpu_id":"0","status":"Pass","info":"GPU to Host bandwidth"},{"gpu_ids":1,"status":"Not Run","info":["a","b"]}]}]},
 {"category":"Hardware","tests":[{"name":"GPU Memory","results":[{"gpu_ids":"0,1","status":"Pass"}]},{"name":"Diagnostic","results":[]}]}]}}`

func TestParseDiag(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want nvidia.Diag
	}{
		"DCGM 4": {four, nvidia.Diag{
			Major: 4, Version: "4.2.3", Driver: "580.105.08", Serials: map[int]string{0: "111", 1: "222"},
			Tests: []nvidia.DiagTest{
				{Category: "Deployment", Name: "software", Status: nvidia.DiagPass, Results: []nvidia.DiagResult{
					{Group: "GPU", ID: new(0), Status: nvidia.DiagPass}, {Group: "GPU", ID: new(1), Status: nvidia.DiagPass}}},
				{Category: "Stress", Name: "memory_bandwidth", Status: nvidia.DiagFail, Results: []nvidia.DiagResult{
					{Group: "GPU", ID: new(0), Status: nvidia.DiagSkip},
					{Group: "GPU", ID: new(1), Status: nvidia.DiagFail, Warnings: []nvidia.DiagWarning{{Text: "Detected 2.1 membw", ErrorID: 62, Category: 1, Severity: nvidia.SeverityTriage}}}}},
			},
		}},
		"DCGM 3": {three, nvidia.Diag{
			Major: 3, Version: "3.3.5", Driver: "535.129.03", Serials: map[int]string{0: "111", 1: "222"},
			Tests: []nvidia.DiagTest{
				{Category: "Deployment", Name: "Blacklist", Status: nvidia.DiagPass, Results: []nvidia.DiagResult{{Status: nvidia.DiagPass}}},
				{Category: "Deployment", Name: "Persistence Mode", Status: nvidia.DiagWarn, Results: []nvidia.DiagResult{
					{Status: nvidia.DiagWarn, Warnings: []nvidia.DiagWarning{{Text: "Persistence mode for GPU 0 is disabled."}}}}},
				{Category: "Integration", Name: "PCIe", Status: nvidia.DiagNotRun, Results: []nvidia.DiagResult{
					{Group: "GPU", ID: new(0), Status: nvidia.DiagPass, Info: []string{"GPU to Host bandwidth"}},
					{Group: "GPU", ID: new(1), Status: nvidia.DiagNotRun, Info: []string{"a", "b"}}}},
				{Category: "Hardware", Name: "GPU Memory", Status: nvidia.DiagPass, Results: []nvidia.DiagResult{
					{Group: "GPU", ID: new(0), Status: nvidia.DiagPass}, {Group: "GPU", ID: new(1), Status: nvidia.DiagPass}}},
				{Category: "Hardware", Name: "Diagnostic", Status: nvidia.DiagNotRun},
			},
		}},
		"a runtime error": {
			`{"DCGM Diagnostic":{"runtime_error":"Unable to run diagnostic on unsupported GPU 0."},"metadata":{"version":"4.2.3"}}`,
			nvidia.Diag{Major: 4, Version: "4.2.3", RuntimeError: "Unable to run diagnostic on unsupported GPU 0.", Serials: map[int]string{}},
		},
		"a summary that says why": {
			`{"DCGM Diagnostic":{"test_categories":[{"category":"Hardware","tests":[{"name":"memory","results":[{"entity_group":"GPU","entity_id":0,"status":"Pass"}],` +
				`"test_summary":{"status":"Fail","info":["x"],"warnings":[{"error_category":1,"error_id":9,"error_severity":2,"warning":"DBE"}]}}]}]}}`,
			nvidia.Diag{Major: 4, Serials: map[int]string{}, Tests: []nvidia.DiagTest{{
				Category: "Hardware", Name: "memory", Status: nvidia.DiagFail, Results: []nvidia.DiagResult{{Group: "GPU", ID: new(0), Status: nvidia.DiagPass}},
				Warnings: []nvidia.DiagWarning{{Text: "DBE", ErrorID: 9, Category: 1, Severity: nvidia.SeverityIsolate}}}}},
		},
		"a summary worse than its results": {
			`{"DCGM Diagnostic":{"test_categories":[{"category":"Stress","tests":[{"name":"x","results":[{"entity_group":"GPU","entity_id":0,"status":"Pass"}],"test_summary":{"status":"Fail"}}]}]}}`,
			nvidia.Diag{Major: 4, Serials: map[int]string{}, Tests: []nvidia.DiagTest{
				{Category: "Stress", Name: "x", Status: nvidia.DiagFail, Results: []nvidia.DiagResult{{Group: "GPU", ID: new(0), Status: nvidia.DiagPass}}}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nvidia.ParseDiag([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// On a terminal the standard error of dcgmi is in its output, before or after the document.
func TestParseDiagWithStandardError(t *testing.T) {
	t.Parallel()
	want, err := nvidia.ParseDiag([]byte(four))
	if err != nil {
		t.Fatal(err)
	}
	got, err := nvidia.ParseDiag([]byte("warning\r\n" + four + "\r\nError: lost\r\n[ERROR] nvvs\r\n"))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestParseDiagRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing":           {" \n", "run dcgmi diag with -j"},
		"an error message":  {"Error: unable to establish a connection to the specified host: localhost", "unable to establish"},
		"the table":         {"Successfully ran diagnostic for group.\n+-----+", "no JSON"},
		"truncated":         {four[:len(four)/2], "truncated"},
		"another document":  {`{"body":{}}`, "neither"},
		"no tests":          {`{"DCGM Diagnostic":{"test_categories":[]}}`, "neither tests nor"},
		"an unknown status": {strings.Replace(four, `"Pass"`, `"Fine"`, 1), "unknown status \"Fine\": want one of Pass"},
		"a test of no name": {strings.Replace(four, `"name":"software"`, `"name":""`, 1), "name is missing"},
		"a wrong GPU":       {strings.Replace(three, `"gpu_ids":"0,1"`, `"gpu_ids":"all"`, 1), "invalid GPU list"},
		"a second document": {four + "\n" + four, "after the document"},
		"UTF-16":            {"\xff\xfe{\x00", "UTF-8"},
		"another type":      {`{"DCGM Diagnostic":[]}`, "decode JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := nvidia.ParseDiag([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestExit(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]nvidia.DiagOutcome{
		0: nvidia.DiagCompleted, 226: nvidia.DiagTestFailed, 205: nvidia.DiagIsolate, 217: nvidia.DiagIncomplete,
		215: nvidia.DiagIncomplete, 216: nvidia.DiagIncomplete, 235: nvidia.DiagIncomplete, 203: nvidia.DiagIncomplete, 198: nvidia.DiagIncomplete, 42: nvidia.DiagIncomplete,
	} {
		if got, meaning := nvidia.DiagExit(code); got != want || meaning == "" {
			t.Errorf("exit %d: %s (%s), want %s", code, got, meaning, want)
		}
	}
}

func FuzzParseDiag(f *testing.F) {
	f.Add([]byte(four))
	f.Add([]byte(three))
	f.Add([]byte(`{"DCGM Diagnostic":{"runtime_error":"x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := nvidia.ParseDiag(data)
		if err != nil {
			return
		}
		if len(d.Tests) == 0 && d.RuntimeError == "" {
			t.Error("neither tests nor an error")
		}
		for _, test := range d.Tests {
			if len(test.Results) == 0 && test.Status == nvidia.DiagPass && !strings.Contains(strings.ToLower(string(data)), "pass") {
				t.Errorf("passed out of nothing: %+v", test)
			}
		}
	})
}

// The names that releases give one test are one test, and a name without a row is unknown.
func TestDiagNames(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"Blacklist": "Denylist", "Permissions and OS-related Blocks": "Permissions and OS Blocks",
		"Environmental Variables": "Environment Variables", "Page Retirement": "Page Retirement/Row Remap",
	} {
		if one := (nvidia.DiagTest{Name: name}); !one.Is(other) || !one.Known() {
			t.Errorf("%s: is %s %t, known %t", name, other, one.Is(other), one.Known())
		}
	}
	for _, name := range []string{"memory_bandwidth", "EUD Test", "nvbandwidth"} {
		if !(nvidia.DiagTest{Name: name}).Known() {
			t.Errorf("%s is unknown", name)
		}
	}
	if unknown := (nvidia.DiagTest{Name: "Quantum Test"}); unknown.Known() || unknown.Is("Inforom") || !unknown.Is("Quantum Test") {
		t.Error("a name without a row is known")
	}
}
