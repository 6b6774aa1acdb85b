package inference

import "testing"

// Only a reason that is terminal, of the object as it is, ends the wait for a Gateway.
func TestNever(t *testing.T) {
	t.Parallel()
	f, err := readFigures(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	accepted := is("Accepted", "True", "Accepted", 2)
	for name, tt := range map[string]struct {
		conditions conditions
		want       bool
	}{
		"no condition":                {conditions{}, false},
		"programmed":                  {conditions{accepted, is("Programmed", "True", "Programmed", 2)}, false},
		"an address may come":         {conditions{accepted, is("Programmed", "False", "AddressNotAssigned", 2)}, false},
		"not processed yet":           {conditions{accepted, is("Programmed", "Unknown", "Pending", 2)}, false},
		"none will come":              {conditions{accepted, is("Programmed", "False", "AddressNotUsable", 2)}, true},
		"of the generation before":    {conditions{accepted, is("Programmed", "False", "AddressNotUsable", 1)}, false},
		"true for a terminal reason":  {conditions{accepted, is("Programmed", "True", "AddressNotUsable", 2)}, false},
		"not accepted, and never":     {conditions{is("Accepted", "False", "InvalidParameters", 2)}, true},
		"not accepted, and may be so": {conditions{is("Accepted", "False", "Pending", 2)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (gateway{Generation: 2, Conditions: tt.conditions}).terminal(f.Terminal); got != tt.want {
				t.Errorf("never: %v", got)
			}
		})
	}
}
