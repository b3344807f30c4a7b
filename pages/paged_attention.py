from viz_core.ui.page import show
from viz_core.ui.scenes import pa_own, pa_presets, pa_prompt, pa_recorded, pa_source, pa_waste

show(__file__, [pa_source.SCENE, pa_prompt.SCENE, pa_presets.SCENE, pa_waste.SCENE, pa_own.SCENE, pa_recorded.SCENE])
