package nvidia

// renamed are tests that later releases of DCGM 3 call by another name.
var renamed = map[string]string{"Blacklist": "Denylist"}

// Is says that the test is the one of this name, in any release.
func (t DiagTest) Is(name string) bool { return current(t.Name) == current(name) }

func current(name string) string {
	if now, ok := renamed[name]; ok {
		return now
	}
	return name
}
