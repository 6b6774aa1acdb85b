package profile

import (
	"maps"
	"reflect"
	"slices"
)

// Equal reports whether two fabrics have the same figures, whatever their sources.
func (f Fabric) Equal(other Fabric) bool {
	return reflect.DeepEqual(f.withoutSources(), other.withoutSources())
}

// SameFabric reports whether nodes of both profiles can be in one fabric: with the same figures, and as many adapters.
func (p *Profile) SameFabric(other *Profile) bool {
	return p.Fabric.Equal(other.Fabric) && p.Node.HCAs.Value == other.Node.HCAs.Value
}

func (f Fabric) withoutSources() Fabric {
	f.Rate.Source, f.Width.Source, f.LaneSpeed.Source = "", "", ""
	f.CounterLimits = maps.Clone(f.CounterLimits)
	for name, figure := range f.CounterLimits {
		figure.Source = ""
		f.CounterLimits[name] = figure
	}
	f.NotErrors = maps.Clone(f.NotErrors)
	for name := range f.NotErrors {
		f.NotErrors[name] = ""
	}
	f.RequiredStages = slices.Sorted(slices.Values(f.RequiredStages))
	return f
}
