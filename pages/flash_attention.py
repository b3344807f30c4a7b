from viz_core.ui.page import show
from viz_core.ui.scenes import fa_bytes, fa_costs, fa_decode, fa_exact, fa_hand, fa_later, fa_paper, fa_walk

SCENES = [fa_hand, fa_walk, fa_bytes, fa_decode, fa_costs, fa_exact, fa_later, fa_paper]
show(__file__, [scene.SCENE for scene in SCENES])
