from viz_core.ui.page import show
from viz_core.ui.scenes import (
    quant_bits,
    quant_block,
    quant_float,
    quant_fp8,
    quant_gptq,
    quant_groups,
    quant_histogram,
    quant_kv,
    quant_methods,
    quant_model,
    quant_outliers,
    quant_paged,
    quant_references,
    quant_scoreboard,
    quant_steps,
    quant_table,
)

weights = [quant_block, quant_steps, quant_histogram, quant_bits, quant_float, quant_references]
formats = [quant_table, quant_groups, quant_model, quant_scoreboard]
methods = [quant_kv, quant_paged, quant_gptq, quant_methods, quant_outliers, quant_fp8]
show(__file__, [module.SCENE for module in (*weights, *formats, *methods)])
