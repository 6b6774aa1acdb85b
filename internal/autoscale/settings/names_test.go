package settings

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/site"
)

// The site file names settings as the chain does.
func TestNames(t *testing.T) {
	t.Parallel()
	want := []string{
		snapshot.SettingSample, snapshot.SettingScrape, snapshot.SettingWindow, snapshot.SettingRelist, snapshot.SettingHPASync, snapshot.SettingStabilization,
		snapshot.SettingBatchIdle, snapshot.SettingBatchMax, snapshot.SettingRegistration, snapshot.SettingConsolidate, snapshot.SettingNomination, snapshot.SettingDisruption,
		snapshot.SettingValidation, snapshot.SettingTermination,
	}
	if diff := cmp.Diff(want, site.AutoscaleSettings()); diff != "" {
		t.Error(diff)
	}
	for _, options := range [][]option{adapterOptions(), controllerManagerOptions(), exporterOptions(), karpenterOptions(), clusterAutoscalerOptions()} {
		for _, o := range options {
			if !slices.Contains(want, o.setting) || o.otherwise <= 0 {
				t.Errorf("option %+v is of no setting, or has no default", o)
			}
		}
	}
}
