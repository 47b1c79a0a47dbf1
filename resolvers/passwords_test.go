package resolvers

import "testing"

func TestOwnPassword(t *testing.T) {
	texts := []string{"greta.huber@alpine.example", "Greta", "Huber-Li", "Alpine Energy", "X 4711 & Söhne"}
	for password, refused := range map[string]bool{
		"greta.huber@alpine.example": true, "GretaHuber2024!": true, "huber greta": true, "alpine-energy-1": true, "sÖhne4711-4711": true, "lililili99": true,
		"greta likes the sea": false, "1029384756": false, "xxxxxxxxxx": false, "correct horse battery": false, "": false,
	} {
		if got := ownPassword("password", password, texts...) != nil; got != refused {
			t.Errorf("%q is refused: %v", password, got)
		}
	}
	if err := ownPassword("password", "greta.huber@alpine.example"); err != nil {
		t.Errorf("nobody's own: %v", err)
	}
}
