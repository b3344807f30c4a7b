from viz_core.ui.page import show
from viz_core.ui.scenes import kv_growth, kv_hand, kv_phases, kv_run

show(__file__, [kv_hand.SCENE, kv_run.SCENE, kv_growth.SCENE, kv_phases.SCENE])
