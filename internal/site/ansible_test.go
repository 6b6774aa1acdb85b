package site

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestWavesOf(t *testing.T) {
	t.Parallel()
	hosts := []string{"a", "b", "c", "d", "e"}
	for size, want := range map[string][]int{
		"": {5}, "2": {2, 2, 1}, "25%": {1, 1, 1, 1, 1}, "50%": {2, 2, 1}, "100%": {5}, "9": {5},
	} {
		waves, err := (&Ansible{Waves: size}).WavesOf(hosts)
		var got []int
		var all []string
		for _, w := range waves {
			got, all = append(got, len(w)), append(all, w...)
		}
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(all, hosts) {
			t.Errorf("%q: %v, %v; want %v", size, waves, err, want)
		}
	}
	for _, size := range []string{"0", "-1", "101%", "0%", "x", "1.5", "%", "1 %"} {
		if waves, err := (&Ansible{Waves: size}).WavesOf(hosts); err == nil || !strings.Contains(err.Error(), size) {
			t.Errorf("%q: %v, %v", size, waves, err)
		}
	}
}

func TestAnsibleArguments(t *testing.T) {
	t.Parallel()
	for arg, refused := range map[string]bool{
		"--limit": true, "--limit=a": true, "-lgpu-01": true, "-i": true, "--check": true, "-K": true, "--che": true, "--lim=a": true, "-vC": true, "-bvlgpu-01": true, "-vvi": true, "-eC": false, "-bvv": false, "--diff": false, "--step": true,
		"--vault-password-file": false, "-e": false, "@vars.yaml": false, "--tags=drivers": false, "-vv": false,
	} {
		v := &validator{root: &yaml.Node{}}
		v.ansible("prepare.0.ansible", &Ansible{Playbook: "p.yaml", Args: []string{arg}})
		if got := len(v.problems) > 0; got != refused {
			t.Errorf("%s: %v", arg, v.problems)
		}
	}
	v := &validator{root: &yaml.Node{}}
	if v.ansible("p", &Ansible{Waves: "0"}); len(v.problems) != 2 {
		t.Errorf("%v", v.problems)
	}
}
