package profile_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

// figures are those of a profile, addressable, by their path.
func figures(p *profile.Profile) map[string]*profile.Figure {
	out := map[string]*profile.Figure{}
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		if v.CanAddr() {
			if f, ok := v.Addr().Interface().(*profile.Figure); ok {
				out[path] = f
				return
			}
		}
		switch v.Kind() {
		case reflect.Pointer:
			visit(v.Elem(), path)
		case reflect.Struct:
			for i := range v.NumField() {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				visit(v.Field(i), strings.TrimPrefix(path+"."+name, "."))
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
		default:
		}
	}
	visit(reflect.ValueOf(p).Elem(), "")
	return out
}

// mayBeZero are the figures for which zero is a valid limit.
var mayBeZero = []string{"node.maxRemappedRows", "training.warmupSteps"}

// A figure without a value, or with one that no measurement can be compared with, disables its
// check: the profile is refused and the error names the figure.
func TestEveryFigureNeedsAValueThatJudges(t *testing.T) {
	t.Parallel()
	for _, name := range profile.Names() {
		whole, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		was := figures(whole)
		if len(was) < 40 {
			t.Fatalf("%d figures: the search is broken", len(was))
		}
		for path, f := range was {
			for _, spoilt := range []float64{math.NaN(), math.Inf(1), -1, 0} {
				if spoilt == 0 && (f.Value == 0 || slices.Contains(mayBeZero, path)) {
					continue
				}
				kept := f.Value
				f.Value = spoilt
				if err := whole.Validate(); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: %s of %g: %v", name, path, spoilt, err)
				}
				f.Value = kept
			}
		}
	}
}

func TestAFigureWithoutItsValueIsRefused(t *testing.T) {
	t.Parallel()
	data, err := profile.Raw("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`value: [0-9.]+, `)
	places := value.FindAllIndex(data, -1)
	if len(places) < 40 {
		t.Fatalf("%d values: the search is broken", len(places))
	}
	for _, at := range places {
		for _, text := range []string{"", "value: , ", "valeu: 1, "} {
			spoilt := string(data[:at[0]]) + text + string(data[at[1]:])
			if _, err := profile.Parse("p.yaml", []byte(spoilt)); err == nil || !strings.Contains(err.Error(), "value") {
				t.Errorf("line %d with %q: %v", 1+strings.Count(string(data[:at[0]]), "\n"), text, err)
			}
		}
	}
}

// An empty list disables its check.
func TestEmptyListsAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(p *profile.Profile)
		want  string
	}{
		"no driver errors":               {func(p *profile.Profile) { p.Node.XIDs = nil }, "node.xids"},
		"driver errors without a class":  {func(p *profile.Profile) { p.Node.XIDs = map[string][]int{"monitor": {79}} }, "node.xids.reset"},
		"an unknown class":               {func(p *profile.Profile) { p.Node.XIDs["reest"] = []int{48} }, "node.xids.reest"},
		"an error in two classes":        {func(p *profile.Profile) { p.Node.XIDs["ignore"] = append(p.Node.XIDs["ignore"], 79) }, "79"},
		"no source of switch errors":     {func(p *profile.Profile) { p.Node.SXIDSource = "" }, "node.sxidSource"},
		"no source of driver errors":     {func(p *profile.Profile) { p.Node.XIDSource = "" }, "node.xidSource"},
		"no NVLink counters":             {func(p *profile.Profile) { p.GPU.NVLinkErrorLimits = nil }, "gpu.nvlinkErrorLimits"},
		"no clock reasons":               {func(p *profile.Profile) { p.Node.FaultClockReasons = nil }, "node.faultClockReasons"},
		"no counters":                    {func(p *profile.Profile) { p.Fabric.CounterLimits = nil }, "fabric.counterLimits"},
		"no transports":                  {func(p *profile.Profile) { p.Collective.Transports = nil }, "collective.transports"},
		"no diagnostics of a version":    {func(p *profile.Profile) { p.Node.RequiredDiagnostics["4"] = nil }, `node.requiredDiagnostics["4"]`},
		"rails without a fabric":         {func(p *profile.Profile) { p.Fabric.Kind = "none" }, "fabric.kind"},
		"a fabric without rails":         {func(p *profile.Profile) { p.Node.HCAs.Value = 0 }, "node.hcas"},
		"NVLinks that do not run":        {func(p *profile.Profile) { p.GPU.NVLinkRate.Value = 0 }, "gpu.nvlinkRate"},
		"a part that is more than all":   {func(p *profile.Profile) { p.Collective.MinFraction.Value = 1.2 }, "collective.minFraction"},
		"a ratio below one":              {func(p *profile.Profile) { p.Training.MaxP95P50.Value = 0.9 }, "training.maxP95P50"},
		"utilisation above 100 %":        {func(p *profile.Profile) { p.Telemetry.MinUtilUnderLoad.Value = 101 }, "telemetry.minUtilUnderLoad"},
		"a ceiling of no nodes":          {func(p *profile.Profile) { p.Collective.Ceilings[0].Nodes = 0 }, "collective.ceilings[0].nodes"},
		"two ceilings of a node count":   {func(p *profile.Profile) { p.Collective.Ceilings[0].Nodes = 2 }, "collective.ceilings[1].nodes"},
		"half a GPU":                     {func(p *profile.Profile) { p.Node.GPUs.Value = 7.5 }, "node.gpus"},
		"a tolerance that allows all":    {func(p *profile.Profile) { p.Collective.RatioTolerance.Value = 1 }, "collective.ratioTolerance"},
		"a limit of a non-error counter": {func(p *profile.Profile) { p.Fabric.NotErrors["SymbolErrorCounter"] = "x" }, "fabric.notErrors.SymbolErrorCounter"},
		"no error, and no source":        {func(p *profile.Profile) { p.Fabric.NotErrors["PortXmitWait"] = "" }, "fabric.notErrors.PortXmitWait"},
		"a fabric of an unknown kind":    {func(p *profile.Profile) { p.Fabric.Kind = "token-ring" }, "fabric.kind"},
		"a clock above the highest":      {func(p *profile.Profile) { p.GPU.MinLoadSMClock.Value = 1981 }, "gpu.minLoadSMClock"},
		"more power idle than at work":   {func(p *profile.Profile) { p.GPU.IdlePower.Value = 700 }, "gpu.idlePower"},
		"power in W":                     {func(p *profile.Profile) { p.Node.Power.Value = 10200 }, "node.power"},
		"memory in GiB":                  {func(p *profile.Profile) { p.GPU.Memory.Value = 80 }, "gpu.memory"},
		"a rate in GB/s that is Mb/s":    {func(p *profile.Profile) { p.Fabric.Rate.Value = 400000 }, "fabric.rate"},
		"a ceiling in Mb/s":              {func(p *profile.Profile) { p.Collective.Ceilings[0].Busbw.Value = 480000 }, "collective.ceilings[0].busbw"},
		"NVSwitches without a domain":    {func(p *profile.Profile) { p.Node.NVLinkDomain = nil }, "node.nvlinkDomain is missing"},
		"half of a node":                 {func(p *profile.Profile) { p.Node.NVLinkDomain.Value = 1.5 }, "node.nvlinkDomain"},
		"a loss that is a gain":          {func(p *profile.Profile) { p.Collective.ScaleLoss.Value = 0.6 }, "collective.scaleLoss"},
		"a class floor that hides it":    {func(p *profile.Profile) { p.Collective.Ceilings[0].ClassFloor = true }, "collective.ceilings[0]"},
		"a class floor as a ceiling":     {func(p *profile.Profile) { p.Collective.Ceilings[0].Busbw.Source = "class floor: mine" }, "collective.ceilings[0]"},
		"a diagnostic level of the past": {func(p *profile.Profile) { p.Node.DiagnosticLevel.Value = 9 }, "node.diagnosticLevel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := profile.Load("h100-sxm-ndr400")
			if err != nil {
				t.Fatal(err)
			}
			tt.spoil(p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// Gates compute in the units of the profiles that ship: 0.0102 MW would be a demand of 0.0102 kW.
func TestAFigureHasTheUnitThatGatesComputeIn(t *testing.T) {
	t.Parallel()
	for _, name := range profile.Names() {
		whole, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for path, f := range figures(whole) {
			kept := f.Unit
			f.Unit = "MW"
			if err := whole.Validate(); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %s in MW: %v", name, path, err)
			}
			f.Unit = kept
		}
	}
}
